-- cancel-nodes: pending | delayed | blocked -> rejected (cancelled); working -> working, flagged for its
-- holder; for tasks of a flow. (I1 I3)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[5] -- zset  id -> lease deadline (ms)
local delayed = KEYS[6] -- zset  id -> due (ms)
local tasks = KEYS[7] -- hash  records and control fields
local expiry = KEYS[8] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[9] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local mark = ARGV[2] -- `N` of the flow as a whole, which is then the only node; else empty
local outbox = ARGV[3] -- with a mark: the member of `expiry` that stays until all of its tasks are cancelled
local items = ARGV -- then for each, at most 160: id. Those behind others come before these
-- Returns {'ok', how many were cancelled, how many were flagged, how many are not known, then what is left to
--          be notified, as in `read-outbox`}
--      or {'newer_schema'}

local keys = queue_keys(pending, fair, fair_by_group, limited, working, delayed, tasks, expiry, dead)
local plan = new_plan(keys, clock(test_now))
local names = { '~set', '~stats', '~ghosts' }
for i = 4, #items do
  append(names, '.' .. items[i])
end
local found = redis.call('HMGET', tasks, unpack(names))
if read_settings(plan, found[1], found[2]) then
  return { 'newer_schema' }
end
local reply = { 'ok', 0, 0, 0 }
local ghosts, left, places = 0, {}, {}
local known, waiting, texts = {}, {}, {}
for i = 4, #items do
  known[i], texts[i] = parse(found[i] or nil)
  append(waiting, known[i].state == STATE.waiting and known[i] or nil)
end
open_groups(plan, waiting)

-- Takes a task out of the place in which it waits. One that is in the list stays as a ghost.
local function take_out(id, task)
  local place, score = delayed, redis.call('ZSCORE', delayed, id)
  if not score and grouped(task) then
    place, score = find_and_refund(plan, id, task)
  end
  if score then
    append(left, id)
    places[id] = { place = place, score = score }
    redis.call('ZREM', place, id)
  else
    add(task, 'ghosts', 1)
    ghosts = ghosts + 1
  end
end

for i = 4, #items do
  local id, task = items[i], known[i]
  if mark ~= '' and task.node_kind then
    if not has_ended(task) then
      -- A cancel of the user's comes before one for a failure.
      task.cancelled = task.cancelled == 'a' and 'a' or mark
      plan_write(plan, 'HSET tasks', '.' .. id, format(task, texts[i]))
      plan_write(plan, 'ZADD expiry', BLOCKED.task, outbox)
    end
  elseif not task.state then
    reply[4] = reply[4] + 1
  elseif task.state == STATE.working then
    if not task.cancel_requested then
      reply[3] = reply[3] + 1
      task.cancel_requested = '1'
      transition(task, 'flagged', plan.now)
      plan_write(plan, 'HSET tasks', '.' .. id, format(task, texts[i]))
      note_event(plan, 'cancelRequested', id)
    end
  elseif task.state == STATE.waiting and not task.node_kind then
    take_out(id, task)
    reply[2] = reply[2] + 1
    end_task(plan, id, task, '', 'rejected', 'cancelled')
  end
end
if ghosts > 0 then
  plan_write(plan, 'HSET tasks', '~ghosts', int(ghosts + tonumber(found[3] or 0)))
end
move_up_all(plan)
admit_limited(plan)
local failed = commit(plan)
if failed then
  for _, id in ipairs(left) do
    redis.call('ZADD', places[id].place, places[id].score, id)
  end
  return failed
end
for _, one in ipairs(flows.outbox) do
  reply[#reply + 1] = one
end
return reply
