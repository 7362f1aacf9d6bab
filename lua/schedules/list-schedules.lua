-- list-schedules: reads a page of a queue's schedules, or one with its recurring task. Changes nothing.
local schedules = KEYS[1] -- zset  schedule -> its next occurrence (ms)
local timetable = KEYS[2] -- hash  records of schedules, and their recurring tasks
local name = ARGV[1] -- of one schedule; empty for a page
local cursor = ARGV[2] -- '0' for the first page, else the cursor of the previous page
local size = ARGV[3] -- about this many a page, 1 to 1,000
-- Returns {'ok', cursor of the next page ('0': none), then for each: name, its next occurrence (ms), its
--          record, the fixed record of its tasks from the options on ('' in a page)}
--      or {'newer_schema'}

local next_cursor, members = '0', { name, name ~= '' and redis.call('ZSCORE', schedules, name) or nil }
if name == '' then
  next_cursor, members = unpack(redis.call('ZSCAN', schedules, cursor, 'COUNT', size))
end
local fields = {}
for i = 1, #members, 2 do
  fields[#fields + 1] = '.' .. members[i]
end
if name ~= '' then
  fields[2] = name
end
local found = read('HMGET', timetable, fields)
local reply = { 'ok', next_cursor }
for i = 1, #members - 1, 2 do
  local record = found[(i + 1) / 2]
  if newer(record) then
    return { 'newer_schema' }
  elseif record then
    append(reply, members[i], tonumber(members[i + 1]))
    append(reply, record, name ~= '' and found[2] or '')
  end
end
return reply
