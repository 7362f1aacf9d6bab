-- add-flow: nothing -> blocked | pending | delayed, for the nodes of a flow in one partition. In the home of
-- the flow all of it is recorded: it exists from then on. (I1 I3 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local wake = ARGV[2] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local token = ARGV[3] -- of the caller: it distinguishes a copy of this call from another flow with that id
local items = ARGV -- then for each node: id, edges, record from options, as in `enqueue`
-- edges: '' if it waits for nothing, else a letter for each edge: 'c' if that task must complete, 'e' if it
-- must end, '+' for one that has completed; or '~' for a field that is not a node: record is its value, and
-- an outbox if the id begins with '~x:'
-- Returns {'ok', 1 if the caller must wake a consumer, 1 if this call or an earlier copy of it added them}
--      or {'full'} | {'newer_schema'}

local FIRST, STRIDE = 3, 3
local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry)
local plan = new_plan(keys, clock(test_now))
local found = redis.call('HMGET', tasks, '~set', '~stats', '~wake', '~ghosts', '~dropped', '~nodes')
if read_settings(plan, found[1], found[2]) then
  return { 'newer_schema' }
end
local first = redis.call('HGET', tasks, items[FIRST + 1])
if first then
  local task = parse_with(first, redis.call('HGET', tasks, '.' .. items[FIRST + 1]))
  return { 'ok', 0, task.producer_token == token and 1 or 0 }
end

local any_ready, grouped_tasks, nodes = false, {}, {}
for place = FIRST + 1, #items, STRIDE do
  local id, edges, record = unpack(items, place, place + STRIDE - 1)
  if edges == '~' then
    plan_write(plan, 'HSET tasks', id, record)
    if string.sub(id, 1, 3) == '~x:' then
      plan_write(plan, 'ZADD expiry', BLOCKED, id)
    end
  else
    local fixed = '2;' .. int(plan.now) .. record
    local task = parse_with(fixed, nil)
    nodes[#nodes + 1] = { id = id, edges = edges, fixed = fixed, task = task }
    append(grouped_tasks, edges == '' and task or nil)
  end
end
open_groups(plan, grouped_tasks)
for _, node in ipairs(nodes) do
  local id, task, edges = node.id, node.task, node.edges
  plan_write(plan, 'HSET tasks', id, node.fixed)
  note_event(plan, 'enqueued', id)
  local delay = tonumber(parse_fixed(node.fixed).flow_delay or 0)
  task.flow_delay = delay > 0 and int(delay) or nil
  if edges ~= '' then
    local _, open = string.gsub(edges, '[ce]', '')
    task.edges = int(open) .. ',0,' .. edges
    plan_write(plan, 'ZADD delayed', blocked_score(task), id)
    plan_write(plan, 'HSET tasks', '.' .. id, format(task, ''))
  elseif delay > 0 then
    plan_write(plan, 'ZADD delayed', score_when_due(task, plan.now + delay), id)
    plan_write(plan, 'HSET tasks', '.' .. id, format(task, ''))
  else
    make_ready(plan, id, task, 'back')
    plan_write(plan, 'HSET tasks', '.' .. id, format(task, ''))
    any_ready = true
  end
end
local control = { ['~ghosts'] = found[4], ['~dropped'] = found[5] }
plan.ghosts = 0
if exceeds_max_pending(plan.settings, keys, control, coming(plan)) then
  return { 'full' }
end
plan_write(plan, 'HSET tasks', '~nodes', int(tonumber(found[6] or 0) + #nodes))
finish_plan(plan)
local failed = store_or_undo(plan, { ['~stats'] = found[2], ['~nodes'] = found[6] })
if failed then
  return failed
end
commit(plan)
local wakes = wake ~= '' and any_ready and record_wake(tasks, { found[3], found[1] }, plan.now, wake)
return { 'ok', wakes and 1 or 0, 1 }
