-- forget-worker: takes a worker that has ended off the list of workers. It is refused while the worker has
-- tasks. (I3)
local tasks = KEYS[1] -- hash  records and control fields
local expiry = KEYS[2] -- zset  id -> when its record is deleted (ms)
local workers = KEYS[3] -- zset  worker -> when it counts as silent (ms)
local worker_leases = KEYS[4] -- zset  '<worker> <lease number> <id>' of each lease
local worker = ARGV[1] -- '<name> <incarnation>'
-- Returns {'ok', how many tasks the worker has: it is off the list if this is 0}

local count = redis.call('ZLEXCOUNT', worker_leases, '[' .. worker .. ' ', '(' .. worker .. '!')
if count == 0 then
  redis.call('HDEL', tasks, '~w:' .. worker, '~f:' .. worker)
  redis.call('ZREM', expiry, '~f:' .. worker)
  redis.call('ZREM', workers, worker)
end
return { 'ok', count }
