-- forget-key: the next enqueue with a key is as its first. Tasks stay as they are.
local tasks = KEYS[1] -- hash  records and control fields
local expiry = KEYS[2] -- zset  id -> when its record is deleted (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local key = ARGV[2] -- the key, of debounce, throttle and singleton
local token = ARGV[3] -- of the call: a copy of it forgets nothing that came later
-- Returns {'ok', 1 if the key was known, else 0}, now or by an earlier copy; or {'newer_schema'}

local now, known, plan_fields, times = clock(test_now), 0, {}, {}
local names = { '~D:' .. key, '~T:' .. key, '~S:' .. key }
local found = redis.call('HMGET', tasks, unpack(names))
if newer(found[1]) or newer(found[2]) or newer(found[3]) then
  return { 'newer_schema' }
end
-- The first of the three has the call.
local first = parse_key(found[1])
local earlier = string.match(first.calls, ' ' .. string.gsub(token, '%-', '%%-') .. '=f(%d)')
if earlier then
  return { 'ok', tonumber(earlier) }
end
for i, name in ipairs(names) do
  local entry = parse_key(found[i])
  if entry.id ~= '' or entry.used then
    known = 1
  end
  if i > 1 and found[i] then
    append(plan_fields, name, format_key({ id = '', calls = entry.calls }))
    append(times, int(now + RESEND_WINDOW), name)
  end
end
local noted = { id = '', calls = first.calls }
remember_call(noted, token, 'f', int(known), 64000)
append(plan_fields, names[1], format_key(noted))
append(times, int(now + RESEND_WINDOW), names[1])
local failed = store_fields(tasks, plan_fields)
if failed then
  return failed
end
redis.call('ZADD', expiry, unpack(times))
return { 'ok', known }
