-- statistics: reads what was counted in the last sixty minutes, and in the last day. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local history = ARGV[2] -- '1' to also return the last day; empty: the last sixty minutes alone
-- Returns {'ok', now (ms), 1 if the queue keeps statistics, record of all minutes before the last one with
--          events, record of that one ('' for none), then for each minute of the last sixty before it that
--          had events, in any order: its record}
-- with history also: '', and for each five minutes of the last day, as far as these are before the last
--          minute with events, in any order: their record
--      or {'newer_schema'}

local now = clock(test_now)
local fields = statistics_fields()
local minutes = #fields
for _, field in ipairs(history == '1' and history_fields() or {}) do
  fields[#fields + 1] = field
end
local found = redis.call('HMGET', tasks, '~set', unpack(fields))
if newer_settings(found[1]) or newer(found[2]) or newer(found[3]) then
  return { 'newer_schema' }
end
local reply = { 'ok', now, parse_settings(found[1] or nil).statistics and 1 or 0 }
append_statistics(reply, { unpack(found, 2, minutes + 1) }, now)
if history == '1' then
  append(reply, '')
  append_recent(reply, { unpack(found, minutes + 2) }, now, 1440)
end
return reply
