-- put-endpoint: writes, enables, disables or removes an endpoint. (I3)
local endpoints = KEYS[1] -- hash  endpoint -> record; .<endpoint> -> state; ~version, ~disabled
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local id = ARGV[2] -- the endpoint
local version = ARGV[3] -- the number of changes when the caller has read the record; '0': there was none
local record = ARGV[4] -- its record; empty: remove it
local state = ARGV[5] -- 'c': enable it, as if it is new; 'x': disable it; empty: leave it as it is
local most = ARGV[6] -- how many endpoints there may be
-- Returns {'ok', the number of changes, its state (empty: it is removed)}
--      or {'changed'} if another call has changed an endpoint meanwhile
--      or {'full'}
--      or {'newer_schema'}

local found = redis.call('HMGET', endpoints, '~version', id, '.' .. id, '~disabled')
local was, current, text = found[1] or '0', found[2] or '', found[3] or ''
if is_later(current) or is_later(text) then
  return { 'newer_schema' }
end
local known = text ~= '' and parse_state(text) or {}
if current == record and (state == '' or state == known.state) then
  -- An earlier copy of the call has done so.
  return { 'ok', tonumber(was), text }
elseif was ~= version then
  return { 'changed' }
elseif current == '' and redis.call('HLEN', endpoints) - (found[4] and 2 or 1) >= 2 * tonumber(most) then
  return { 'full' }
end
local changed = int(tonumber(was) + 1)
local written = { '~version', changed }
if found[4] and (record == '' or state ~= '') then
  append(written, '~disabled', without_disabled(found[4], id))
end
if record == '' then
  redis.call('HDEL', endpoints, id, '.' .. id)
  return store_fields(endpoints, written) or { 'ok', tonumber(changed), '' }
end
if state == 'x' then
  known.state, known.since = 'x', int(clock(test_now))
elseif state == 'c' or text == '' then
  close_circuit(known, clock(test_now))
end
known.changed, known.applied = changed, known.applied or '0'
text = format_state(known)
append(written, id, record)
append(written, '.' .. id, text)
return store_fields(endpoints, written) or { 'ok', tonumber(changed), text }
