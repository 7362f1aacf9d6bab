-- cancel: pending | delayed -> rejected (cancelled); working -> working, flagged for its holder. (I1 I3)
local working = KEYS[1] -- zset  id -> lease deadline (ms)
local delayed = KEYS[2] -- zset  id -> due (ms)
local tasks = KEYS[3] -- hash  records and control fields
local expiry = KEYS[4] -- zset  id -> when its record goes away (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local id = ARGV[2] -- the task's id
local lease = ARGV[3] -- lease number that the task must have; empty for any
-- Returns {'rejected'} | {'working'}: done, now or by an earlier copy
--      or {'not_found'} | {'already_ended'} | {'lease_lost'} | {'newer_schema'}

local found = redis.call('HMGET', tasks, id, '.' .. id, '~ghosts')
local fixed, record, ghosts = found[1], found[2], tonumber(found[3] or 0)
if newer(fixed) or newer(record) then
  return { 'newer_schema' }
end
local task, text = parse_with(fixed or '', record)
if not fixed or task.s == 'g' then
  return { 'not_found' }
end
if lease ~= '' and task.n ~= lease then
  return { 'lease_lost' }
end
if task.s == 'c' or (task.s == 'r' and task.y ~= 'cancelled') then
  return { 'already_ended' }
elseif task.s == 'r' then
  return { 'rejected' }
end

if task.s == 'w' then
  local failed
  if not task.f then
    task.f = '1'
    add(task, 'v', 1)
    failed = store(tasks, { '.' .. id, format(task, text) })
  end
  return failed or { 'working' }
end

local now = clock(test_now)
local due = redis.call('ZSCORE', delayed, id)
local plan = new_plan()
if due then
  redis.call('ZREM', delayed, id)
else
  -- In the list, where finding it would take time: the entry stays as a ghost that dequeue drops.
  add(task, 'g', 1)
  plan.fields = { '~ghosts', int(ghosts + 1) }
end
finish(plan, id, task, '', now, 'rejected', 'cancelled')
local failed = commit(plan, now, nil, working, delayed, tasks, expiry, nil)
if failed and due then
  redis.call('ZADD', delayed, due, id)
end
return failed or { 'rejected' }
