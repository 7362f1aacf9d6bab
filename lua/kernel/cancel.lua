-- cancel: pending | delayed -> rejected (cancelled); working -> working, flagged for its holder. (I1 I3)
local fair = KEYS[1] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[2] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[4] -- zset  id -> lease deadline (ms)
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local id = ARGV[2] -- the task's id
local lease = ARGV[3] -- lease number that the task must have; empty for any
-- Returns {'rejected'} | {'working'}: done, now or by an earlier copy
--      or {'not_found'} | {'already_ended'} | {'lease_lost'} | {'newer_schema'}

local keys = queue_keys(nil, fair, fair_by_group, limited, working, delayed, tasks, expiry)
local plan = new_plan(keys)
local found = redis.call('HMGET', tasks, id, '.' .. id, '~ghosts', '~set', '~stats')
local fixed, record, ghosts = found[1], found[2], tonumber(found[3] or 0)
if newer(fixed) or newer(record) or read_settings(plan, found[4], found[5]) then
  return { 'newer_schema' }
end
local task, text = parse_with(fixed or '', record)
if not fixed or task.state == STATE.ghost or task.state == STATE.deleted then
  return { 'not_found' }
end
if lease ~= '' and task.lease_number ~= lease then
  return { 'lease_lost' }
end
if task.state == STATE.completed or (task.state == STATE.rejected and task.reason ~= 'cancelled') then
  return { 'already_ended' }
elseif task.state == STATE.rejected then
  return { 'rejected' }
end

plan.now = clock(test_now)
if task.state == STATE.working then
  if not task.cancel_requested then
    task.cancel_requested = '1'
    transition(task, 'flagged', plan.now)
    plan_write(plan, 'HSET tasks', '.' .. id, format(task, text))
    note_event(plan, 'cancelRequested', id)
  end
  return commit(plan) or { 'working' }
end

local place, score = delayed, redis.call('ZSCORE', delayed, id)
open_groups(plan, { task })
if not score and grouped(task) then
  place, score = find_and_refund(plan, id, task)
end
if score then
  redis.call('ZREM', place, id)
else
  -- Finding the entry in the list would take long, so it stays as a ghost that dequeue drops.
  add(task, 'ghosts', 1)
  plan_write(plan, 'HSET tasks', '~ghosts', int(ghosts + 1))
end
end_task(plan, id, task, '', 'rejected', 'cancelled')
move_up_all(plan)
admit_limited(plan)
local failed = commit(plan)
if failed and score then
  redis.call('ZADD', place, score, id)
end
return failed or { 'rejected' }
