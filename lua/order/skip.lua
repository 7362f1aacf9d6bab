-- skip: the group that a dead letter has stopped goes on with its next task. The dead letter stays. (I3)
local fair = KEYS[1] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[2] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[4] -- zset  id -> due (ms)
local tasks = KEYS[5] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local id = ARGV[2] -- the dead letter's id
local wake = ARGV[3] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
-- Returns {'skipped', 1 if the caller must wake a consumer}: it does not stop its group, now or by an earlier
--          copy, whose reply, and with it the wake, may be lost
--      or {'not_found'} | {'not_dead_letter'} | {'newer_schema'}

local plan = new_plan(queue_keys(nil, fair, fair_by_group, limited, nil, delayed, tasks))
local found = redis.call('HMGET', tasks, id, '.' .. id, '~set', '~stats', '~wake')
local fixed, record = found[1], found[2]
if newer(fixed) or newer(record) or read_settings(plan, found[3], found[4]) then
  return { 'newer_schema' }
end
local task = parse_with(fixed or '', record)
if not fixed or task.state == STATE.ghost or task.state == STATE.deleted then
  return { 'not_found' }
elseif task.state ~= STATE.rejected or not has_payload(fixed) then
  return { 'not_dead_letter' }
end
plan.now = clock(test_now)
open_groups(plan, { task })
local skipped = lines.leave_stopped(plan, task, id)
local failed = skipped and commit(plan)
if failed then
  return failed
end
local ready = wake ~= '' and redis.call('EXISTS', fair) > 0
local wakes = ready and record_wake(tasks, { found[5], found[3] }, plan.now, wake, not skipped and 0)
return { 'skipped', wakes and 1 or 0 }
