-- add-before: a working task adds nodes that a blocked node waits for from now on. This records them in the
-- partition of that node. (I1 I3 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local wake = ARGV[2] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local flow = ARGV[3] -- the flow
local front = ARGV[4] -- the number of the node that is to wait
local edge = ARGV[5] -- which of its edges is open while the task works, from 0
local behind = ARGV[6] -- the number of the join behind it in this partition; empty if it is one itself
local items = ARGV -- then for each node: id, edges, record, as in `add-flow`; first the join behind them
-- Returns {'ok', 1 if the caller must wake a consumer, 2 if this call added them, 1 if an earlier one did}
--      or {'full'} | {'newer_schema'} | {'lost'} if an entry is not staged any more
--      or {'not_blocked'} if the node does not wait any more | {'ended'} if the task has ended

local FIRST = 6
local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry)
local plan = new_plan(keys, clock(test_now))
local root = items[FIRST + 1]
local of_front, of_behind = '.' .. flows.node_id(flow, front), '.' .. flows.node_id(flow, behind)
local names = { '~set', '~stats', '~wake', '~ghosts', '~dropped', '~nodes', root, of_front, of_behind }
local found = redis.call('HMGET', tasks, unpack(names))
if read_settings(plan, found[1], found[2]) then
  return { 'newer_schema' }
elseif found[7] then
  return { 'ok', 0, 1 }
end

-- Gives a node one more edge, and returns its number.
local function add_edge(field, record, letter)
  local task, text = parse(record)
  local open, failed, edges = string.match(task.edges, '^(%d+),(%d+),(.*)$')
  task.edges = int(open + 1) .. ',' .. failed .. ',' .. edges .. letter
  plan.stored_before[field] = record
  plan_write(plan, 'HSET tasks', field, format(task, text))
  return int(#edges)
end

local waiting = parse(found[8] or nil)
local edges = waiting.state == STATE.waiting and string.match(waiting.edges or '', '^%d+,%d+,(.*)$')
if not edges then
  return { 'not_blocked' }
end
local letter = string.sub(edges, edge + 1, edge + 1)
if not string.find(letter, '^[ce]') then
  return { 'ended' }
elseif not are_staged(expiry, items, FIRST) then
  return { 'lost' }
end
local followers = front .. '.' .. add_edge(of_front, found[8], letter)
if behind ~= '' then
  followers = followers .. ',' .. behind .. '.' .. add_edge(of_behind, found[9], 'e')
end
local added, any_ready = begin_nodes(plan, items, FIRST, ';B=' .. followers)
local control = { ['~ghosts'] = found[4], ['~dropped'] = found[5] }
plan.ghosts = 0
if exceeds_max_pending(plan.settings, keys, control, coming(plan)) then
  return { 'full' }
end
local failed = commit_nodes(plan, found[2], found[6], added)
if failed then
  return failed
end
local wakes = wake ~= '' and any_ready and record_wake(tasks, { found[3], found[1] }, plan.now, wake)
return { 'ok', wakes and 1 or 0, 2 }
