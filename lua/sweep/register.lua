-- register: records in the registry that queues are in use.
local queues = KEYS[1] -- zset  queue -> when it was last in use (ms); of an idle partition another time
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local names = ARGV -- then: names of queues, or '<queue>/<partition>'
-- Returns {'ok'}

local now = int(clock(test_now))
local members, partitions = {}, {}
for i = 2, #names do
  local queue, partition = string.match(names[i], '^(.*)/(%d+)$')
  if partition then
    append(partitions, now, partition == '0' and queue or names[i])
  else
    append(members, now, names[i])
  end
end
-- One command each, so at most 499 queues. A partition may be idle until a later time.
if #members > 0 then
  redis.call('ZADD', queues, 'GT', unpack(members))
end
if #partitions > 0 then
  redis.call('ZADD', queues, unpack(partitions))
end
return { 'ok' }
