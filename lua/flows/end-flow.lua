-- end-flow: a flow has ended, so the records of its tasks are kept for as long as each says from now on. If
-- it goes on again, they are kept until it ends.
local tasks = KEYS[1] -- hash  records and control fields
local expiry = KEYS[2] -- zset  id -> when its record is deleted (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local kept_for = ARGV[2] -- how long (ms) fields are kept, which begin with '~'; empty if the flow goes on
local items = ARGV -- then for each, at most 500: id
-- Returns {'ok'}

local now, names, ended, fields = clock(test_now), {}, {}, {}
local goes_on = kept_for == '' and int(now + UNTIL_THE_END)
for i = 3, #items do
  names[#names + 1] = '.' .. items[i]
end
for i, record in ipairs(read('HMGET', tasks, names)) do
  local id, task = items[i + 2], parse(record or nil)
  if string.sub(id, 1, 1) == '~' then
    append(fields, goes_on or int(now + tonumber(kept_for)), id)
  elseif task.flow and has_ended(task) then
    append(ended, goes_on or int(now + math.max(tonumber(task.kept_for or 0), RESEND_WINDOW)), id)
  end
end
write('ZADD', expiry, ended, 'XX')
write('ZADD', expiry, fields)
return { 'ok' }
