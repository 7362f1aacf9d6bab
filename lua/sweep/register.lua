-- register: records in the registry that queues are in use.
local queues = KEYS[1] -- zset  queue -> when it was last in use (ms); of an idle partition another time
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local names = ARGV -- then: names of queues
-- Returns {'ok'}

local now = clock(test_now)
local members = {}
for i = 2, #names do
  members[#members + 1] = int(now)
  members[#members + 1] = names[i]
end
-- One command, so at most 499 queues. A partition that was idle until a later time is in use now.
redis.call('ZADD', queues, unpack(members))
return { 'ok' }
