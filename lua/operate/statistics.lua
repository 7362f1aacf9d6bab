-- statistics: reads what was counted in the last sixty minutes. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
-- Returns {'ok', now (ms), 1 if the queue keeps statistics, record of all minutes before the last one with
--          events, record of that one ('' for none), then for each minute of the last sixty before it that
--          had events, in any order: its record}
--      or {'newer_schema'}

local now = clock(test_now)
local found = redis.call('HMGET', tasks, '~set', unpack(statistics_fields()))
if newer(found[1]) or newer(found[2]) or newer(found[3]) then
  return { 'newer_schema' }
end
local reply = { 'ok', now, parse_settings(found[1] or nil).statistics and 1 or 0 }
append_statistics(reply, { unpack(found, 2) }, now)
return reply
