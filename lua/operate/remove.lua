-- remove: completed | rejected -> nothing, except a tombstone while a late copy of a request may arrive, and
-- while the id is unique. (I3 I7)
local fair = KEYS[1] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[2] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[4] -- zset  id -> due (ms)
local tasks = KEYS[5] -- hash  records and control fields
local expiry = KEYS[6] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[7] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local id = ARGV[2] -- the task's id
-- Returns {'removed'}: done, now or by an earlier copy
--      or {'not_found'} | {'alive'} | {'newer_schema'}

local plan = new_plan(queue_keys(nil, fair, fair_by_group, limited, nil, delayed, tasks, expiry, dead))
local found = redis.call('HMGET', tasks, id, '.' .. id, '~set', '~stats')
local fixed, record = found[1], found[2]
if newer(fixed) or newer(record) or read_settings(plan, found[3], found[4]) then
  return { 'newer_schema' }
end
local task = parse_with(fixed or '', record)
if not fixed or task.state == STATE.ghost then
  return { 'not_found' }
elseif task.state == STATE.deleted then
  -- A tombstone that only keeps the id unique has no end: the time of the task's record was over.
  return { task.ended_at and 'removed' or 'not_found' }
elseif task.state ~= STATE.completed and task.state ~= STATE.rejected then
  return { 'alive' }
end

plan.now = clock(test_now)
erase(plan, id, task)
return commit(plan) or { 'removed' }
