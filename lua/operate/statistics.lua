-- statistics: reads what was counted in the last sixty minutes. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
-- Returns {'ok', now (ms), 1 if the queue keeps statistics, then for each minute with events, in any order:
--          its record} | {'newer_schema'}

local now = clock(test_now)
local fields = { '~set', '~stats' }
for i = 0, 59 do
  append(fields, '~m' .. int(i))
end
local found = redis.call('HMGET', tasks, unpack(fields))
if newer(found[1]) or newer(found[2]) then
  return { 'newer_schema' }
end
local reply = { 'ok', now, parse_settings(found[1] or nil).statistics and 1 or 0 }
for i = 2, #fields do
  local minute = string.match(found[i] or '', '^1;(%d+)')
  -- A field that was not used again in the last hour has an older minute.
  if minute and tonumber(minute) > math.floor(now / 60000) - 60 then
    append(reply, found[i])
  end
end
return reply
