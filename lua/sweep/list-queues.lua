-- list-queues: reads a page of the registry. Changes nothing.
local queues = KEYS[1] -- zset  queue -> when it was last in use (ms); ~queue -> its reminder (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local cursor = ARGV[2] -- '0' for the first page, else the cursor of the previous page
local size = ARGV[3] -- about this many queues a page, 1 to 1,000
-- Returns {'ok', now (ms), cursor of the next page ('0': none), then for each: queue, last use (ms);
--          ~queue, its reminder (ms)}

local page = redis.call('ZSCAN', queues, cursor, 'COUNT', size)
local reply = { 'ok', clock(test_now), page[1] }
for i = 1, #page[2], 2 do
  reply[#reply + 1] = page[2][i]
  reply[#reply + 1] = tonumber(page[2][i + 1])
end
return reply
