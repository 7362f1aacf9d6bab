-- ask-former: what a partition knows that owned the slots once. rejected -> pending | delayed. (I1 I3 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[8] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local wake = ARGV[2] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local refuse_each = ARGV[3] -- '1' if the tasks are of several calls: each is refused alone; '': all or none
local asked = ARGV -- then for each task: id, when, unique, record from options, as in `enqueue`
-- A dead letter whose id begins a new life begins it here. Another ended task is forgotten, and its new life
-- begins in the partition that owns the slot.
-- Returns as `enqueue`: {'ok', …}, with -1 for each task that is not known here; {'full'}; {'newer_schema'};
--      or {'reused'}

local STRIDE = 4
-- How many arguments are in front of the tasks.
local FRONT = 3
local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry, dead)
local plan, drafts = new_plan(keys, clock(test_now)), {}
for i = 1, (#asked - FRONT) / STRIDE do
  local id, when, unique, record = unpack(asked, STRIDE * i, STRIDE * i + FRONT)
  drafts[i] = new_draft(id, when, unique, '1;' .. int(plan.now) .. record, plan.now)
end
local stored = read_for_enqueue(tasks, drafts)
if newer(stored['~slots']) or read_settings(plan, stored['~set'], stored['~stats']) then
  return { 'newer_schema' }
end

-- Adds to the plan that this partition forgets an ended task.
local function give_up(id, old)
  local left, removed = {}, {}
  old.unique_for = nil
  forget_task(left, removed, id, old, plan.now)
  for _, field in ipairs(removed) do
    plan_write(plan, 'HDEL tasks', field)
  end
  for k = 1, #left, 2 do
    plan_write(plan, 'HSET tasks', left[k], left[k + 1])
  end
  plan_write(plan, 'ZREM expiry', id)
  plan_write(plan, 'ZREM dead', id)
end

local call, reply = new_call(plan, drafts, stored, refuse_each == '1'), { 'ok', must_read_settings(plan), 0 }
local refused = add_drafts(call, drafts, reply, function(draft, old)
  -- A dead letter stays where it is, so that it is not lost if the owner does not accept the task.
  local goes = not (old and old.state == STATE.rejected)
  if goes and old and old.state ~= STATE.ghost then
    give_up(draft.id, old)
  end
  return goes and -1 or nil
end)
if refused then
  return { refused }
end
if wake ~= '' and call.any_ready and plan_wake(call, { stored['~wake'], stored['~set'] }, wake) then
  reply[3] = 1
end
return commit_enqueue(call) or reply
