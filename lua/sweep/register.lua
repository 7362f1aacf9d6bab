-- register: records in the registry that queues are in use.
local queues = KEYS[1] -- zset  queue -> when it was last in use (ms); of an idle partition another time
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local names = ARGV -- then: names of queues, or '<queue>/<partition>'
-- Returns {'ok'}

local now = int(clock(test_now))
local members, partitions = {}, {}
for i = 2, #names do
  append(string.find(names[i], '/') and partitions or members, now, names[i])
end
-- One command each, so at most 499 queues. A partition may be idle until a later time.
if #members > 0 then
  redis.call('ZADD', queues, 'GT', unpack(members))
end
if #partitions > 0 then
  redis.call('ZADD', queues, unpack(partitions))
end
return { 'ok' }
