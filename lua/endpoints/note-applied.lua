-- note-applied: notes that the groups of endpoints have the settings that the endpoints say. (I3)
local endpoints = KEYS[1] -- hash  endpoint -> record; .<endpoint> -> state; ~version, ~disabled
local items = ARGV -- then for each, at most 1,000: id, changed (the change that its group has)
-- Returns {'ok', then for each: 1 if so, 0 if it has changed or was removed since}
--      or {'newer_schema'}

local fields = {}
for i = 1, #items, 2 do
  append(fields, '.' .. items[i])
end
local reply, written = { 'ok' }, {}
for i, found in ipairs(redis.call('HMGET', endpoints, unpack(fields))) do
  local text = found or ''
  if is_later(text) then
    return { 'newer_schema' }
  end
  local state = parse_state(text)
  local is_last = state.changed == items[2 * i]
  reply[i + 1] = is_last and 1 or 0
  if is_last and state.applied ~= state.changed then
    state.applied = state.changed
    append(written, fields[i], format_state(state))
  end
end
return #written > 0 and store_fields(endpoints, written) or reply
