-- put-records: replaces records of a hash. A record that is not as its caller has read it stays. (I3)
local records = KEYS[1] -- hash  name -> record
local changes = ARGV -- then for each, at most 500: field, was (empty: none), record (empty: none)
-- Returns {'ok', then for each: 1 if the record is now the given one, 0 if another caller has changed it}

local fields = {}
for i = 1, #changes, 3 do
  append(fields, changes[i])
end
local reply, written, removed = { 'ok' }, {}, {}
for i, found in ipairs(redis.call('HMGET', records, unpack(fields))) do
  local current, was, record = found or '', changes[3 * i - 1], changes[3 * i]
  reply[i + 1] = (current == was or current == record) and 1 or 0
  if current == was and current ~= record then
    if record == '' then
      append(removed, fields[i])
    else
      append(written, fields[i], record)
    end
  end
end
-- What frees memory goes first.
write('HDEL', records, removed)
local failed = #written > 0 and store_fields(records, written)
return failed or reply
