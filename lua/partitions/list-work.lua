-- list-work: when partitions were last in use, or until when they have nothing to do.
local queues = KEYS[1] -- zset  partition -> when it was last in use (ms); idle: when its next task is due,
-- or the negative of when it was last in use
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local names = ARGV -- then: names of partitions
-- Returns {'ok', now (ms), for each partition its score, or 0 if it is not registered}

local reply = { 'ok', clock(test_now) }
for i, score in ipairs(redis.call('ZMSCORE', queues, unpack(names, 2))) do
  reply[i + 2] = tonumber(int(score or 0))
end
return reply
