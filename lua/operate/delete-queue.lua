-- delete-queue: deletes a queue, or a partition, with all its data. It is refused while tasks are working,
-- or tasks of flows have not ended, unless forced. (I3)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[5] -- zset  id -> lease deadline (ms)
local delayed = KEYS[6] -- zset  id -> due (ms)
local tasks = KEYS[7] -- hash  records and control fields
local expiry = KEYS[8] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[9] -- zset  id -> when it was rejected (ms)
local workers = KEYS[10] -- zset  worker -> when it counts as silent (ms)
local worker_leases = KEYS[11] -- zset  '<worker> <lease number> <id>' of each lease
local schedules = KEYS[12] -- zset  schedule -> its next occurrence (ms)
local timetable = KEYS[13] -- hash  records of schedules, and their recurring tasks
local operator_calls = KEYS[14] -- string  the last calls of operators: it stays until it expires
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local token = ARGV[2] -- the caller's token, a new one for each call
local force = ARGV[3] -- '1' to delete even then
-- Returns {'ok', when (ms)} | {'working', how many are working, or of flows} | {'newer_schema'}

local done, notes = earlier_answer(operator_calls, token)
if not done then
  local plan = new_plan({ tasks = tasks }, clock(test_now))
  local found = redis.call('HMGET', tasks, '~set', '~slots', '~nodes')
  if read_settings(plan, found[1]) then
    return { 'newer_schema' }
  end
  local count = force == '1' and 0 or redis.call('ZCARD', working)
  if count == 0 and force ~= '1' then
    count = tonumber(found[3] or 0)
  end
  if count == 0 then
    local parts =
      { pending, fair, fair_by_group, limited, working, delayed, tasks, expiry, dead, workers, worker_leases }
    append(parts, schedules, timetable)
    redis.call('UNLINK', unpack(parts))
    if found[2] then
      -- A partition does not forget which slots it owns.
      redis.call('HSET', tasks, '~slots', found[2])
    end
    -- Only partition 0 says so, once for all of them.
    if plan.settings.events and not string.find(tasks, '/%d+}:tasks$') then
      local channel = string.gsub(string.gsub(tasks, 'tasks$', 'events'), '}/0:events$', '}:events')
      redis.call('PUBLISH', channel, 'deleted ' .. int(plan.now) .. ' *')
    end
  end
  if count > 0 then
    done = 'working,' .. int(count)
  else
    done = 'ok,' .. int(plan.now)
  end
  note_call(operator_calls, notes, token, done)
end
local status, number = string.match(done, '^(%a+),(%d+)$')
return { status, tonumber(number) }
