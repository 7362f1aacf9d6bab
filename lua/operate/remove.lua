-- remove: completed | rejected -> nothing, except a tombstone while a late copy of a request may arrive, and
-- while the id is unique. (I3 I7)
local tasks = KEYS[1] -- hash  records and control fields
local expiry = KEYS[2] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[3] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local id = ARGV[2] -- the task's id
-- Returns {'removed'}: done, now or by an earlier copy
--      or {'not_found'} | {'alive'} | {'newer_schema'}

local plan = new_plan({ tasks = tasks, expiry = expiry, dead = dead })
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
