-- forget: takes queues off the registry that have not been in use for a while.
local queues = KEYS[1] -- zset  queue -> when it was last known to be in use (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local idle = ARGV[2] -- for how long (ms)
local names = ARGV -- then: names of queues, at most 500
-- Returns {'ok', how many went}

local now = clock(test_now)
local asked = { unpack(names, 3) }
local gone = {}
for i, seen in ipairs(redis.call('ZMSCORE', queues, unpack(asked))) do
  if seen and now - tonumber(seen) >= tonumber(idle) then
    gone[#gone + 1] = asked[i]
  end
end
write('ZREM', queues, gone)
return { 'ok', #gone }
