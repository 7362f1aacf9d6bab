-- put-map: writes the map of a queue's partitions, if the map is still as the caller has read it.
local queues = KEYS[1] -- zset  '/<queue>' -> how many partitions may have tasks, the highest and 1
local maps = KEYS[2] -- hash  queue -> map of its partitions
local queue = ARGV[1] -- name; '<queue>/<partition>' for how far the partition was searched
local was = ARGV[2] -- the map as the caller read it; empty for none
local map = ARGV[3] -- the new map; empty to remove it
local partitions = ARGV[4] -- how many there are then; empty for no map of a queue
-- Returns {'ok', the map that is there now}: the new one if it was written, else another caller's

local found = redis.call('HGET', maps, queue) or ''
if found == was and found ~= map then
  if map == '' then
    redis.call('HDEL', maps, queue)
  else
    redis.call('HSET', maps, queue, map)
  end
  if partitions ~= '' then
    redis.call('ZADD', queues, partitions, '/' .. queue)
  end
  found = map
end
return { 'ok', found }
