-- put-map: writes the map of a queue's partitions, if the map is still as the caller has read it.
local maps = KEYS[1] -- hash  queue -> map of its partitions
local queue = ARGV[1] -- name
local was = ARGV[2] -- the map as the caller read it; empty for none
local map = ARGV[3] -- the new map
-- Returns {'ok', the map that is there now}: the new one if it was written, else another caller's

local found = redis.call('HGET', maps, queue) or ''
if found == was and found ~= map then
  redis.call('HSET', maps, queue, map)
  found = map
end
return { 'ok', found }
