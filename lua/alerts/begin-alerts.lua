-- begin-alerts: begins a pass of alert rules, unless another one began a short time ago.
local alerts = KEYS[1] -- hash  queue -> its alerts; ~pass:<rules> -> the last pass of these rules
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local field = ARGV[2] -- '~pass:<rules>'
local token = ARGV[3] -- names this pass, so that a resend gets the same answer
local interval = ARGV[4] -- (ms) no pass begins sooner after the one before
local size = ARGV[5] -- about how many fields are read, 1 to 1,000
-- Returns {'ok', now (ms), the record of the pass, then names of other fields of the hash, some
--          more than once}
--      or {'recent', now (ms)} if a pass began within the interval
--      or {'newer_schema'}

local now = clock(test_now)
local found = redis.call('HGET', alerts, field) or ''
if newer(found) then
  return { 'newer_schema' }
end
local began, last_token, cursor, rest = string.match(found, '^1;(%d+);%d+;([^;]*);(%d+);(.*)$')
local resent = last_token == token
-- After a jump back of the clock the last pass lies ahead.
if began and not resent and now >= tonumber(began) and now - tonumber(began) < tonumber(interval) then
  return { 'recent', now }
end
local page = redis.call('HSCAN', alerts, cursor or '0', 'COUNT', size)
if not resent then
  local start = '1;' .. int(now) .. ';' .. (began or '0') .. ';'
  found = start .. token .. ';' .. page[1] .. ';' .. (rest or '')
  -- Alerts are needed most if Redis is full.
  local failed = store_fields(alerts, { field, found })
  if failed then
    return failed
  end
end
local reply = { 'ok', now, found }
for i = 1, #page[2], 2 do
  if page[2][i] ~= field then
    append(reply, page[2][i])
  end
end
return reply
