-- put-schedule: writes or removes one schedule, if it has not changed since the caller read it. (I3)
local schedules = KEYS[1] -- zset  schedule -> its next occurrence (ms)
local timetable = KEYS[2] -- hash  records of schedules, and their recurring tasks
local operator_calls = KEYS[3] -- string  the last calls of operators
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local token = ARGV[2] -- the caller's token, a new one for each call; empty: the call is not remembered
local name = ARGV[3] -- of the schedule
local was = ARGV[4] -- its record as read ('': none); '*': any; '?': only read; '!': note a refusal
local record = ARGV[5] -- its new record; empty: remove the schedule
local task = ARGV[6] -- the fixed record of its tasks, from the options on; empty: unchanged
local at = ARGV[7] -- its next occurrence (ms)
-- Returns {'ok', 1 if it existed before, its next occurrence (ms)}: done, now or by an earlier copy
--      or {'changed', now (ms), its record ('' for none), its next occurrence (0: none)}: not as read
--      or {'refused'}: an earlier copy was refused
--      or {'newer_schema'}

local found = redis.call('HGET', timetable, '.' .. name) or ''
if newer(found) then
  return { 'newer_schema' }
end

local function changed()
  local score = found ~= '' and redis.call('ZSCORE', schedules, name) or '0'
  -- An unreadable score counts as none.
  return { 'changed', clock(test_now), found, tonumber(string.match(score, '^%d+$') or 0) }
end

local done, notes
if token ~= '' and (was ~= '?' or found == '') then
  done, notes = earlier_answer(operator_calls, token)
end
-- A pause or resume that finds no schedule is noted, so that a late copy does nothing to a schedule that was
-- put since. Only a put has a task.
local finds_none = found == '' and task == '' and was ~= '*'
if notes and not done and (was == '!' or finds_none) then
  note_call(operator_calls, notes, token, 'refused')
end
if was == '?' or was == '!' then
  return changed()
end
if done == 'refused' then
  return { 'refused' }
end
if not done then
  if was ~= '*' and was ~= found then
    return changed()
  end
  if record ~= '' then
    -- This write goes first, because Redis may have no room for it.
    local fields = { '.' .. name, record }
    append(fields, task ~= '' and name or nil, task ~= '' and task or nil)
    local failed = error_of(redis.pcall('HSET', timetable, unpack(fields)))
    if failed then
      return failed
    end
    redis.call('ZADD', schedules, at, name)
  else
    redis.call('HDEL', timetable, name, '.' .. name)
    redis.call('ZREM', schedules, name)
  end
  done = (found ~= '' and '1' or '0') .. ',' .. at
  if notes then
    note_call(operator_calls, notes, token, done)
  end
end
local before, due = string.match(done, '^(%d),(%d+)$')
return { 'ok', tonumber(before), tonumber(due) }
