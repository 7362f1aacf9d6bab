-- due-schedules: reads which schedules of a queue are due. Changes nothing.
local schedules = KEYS[1] -- zset  schedule -> its next occurrence (ms)
local timetable = KEYS[2] -- hash  records of schedules, and their recurring tasks
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local limit = ARGV[2] -- at most this many, 1 to 1,000
-- Returns {'ok', now (ms), the next occurrence after these (ms; 0: none), then for each that is due:
--          name, its occurrence (ms), its record ('' for none)}

local now = clock(test_now)
local found = redis.call('ZRANGE', schedules, '0', limit, 'WITHSCORES')
local names, fields, reply = {}, {}, { 'ok', now, 0 }
for i = 1, #found, 2 do
  local at = tonumber(found[i + 1])
  if at > now or #names == tonumber(limit) then
    reply[3] = at
    break
  end
  names[#names + 1], fields[#fields + 1] = i, '.' .. found[i]
end
local records = read('HMGET', timetable, fields)
for n, i in ipairs(names) do
  append(reply, found[i], tonumber(found[i + 1]))
  reply[#reply + 1] = records[n] or ''
end
return reply
