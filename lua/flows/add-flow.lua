-- add-flow: nothing -> blocked | pending | delayed, for nodes of a flow in one partition. In the home of the
-- flow all of it is recorded: it exists from then on. (I1 I3 I7)
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
local may_refuse = ARGV[4] -- '1' if it is refused in a full queue; empty if the flow exists already
local items = ARGV -- then for each node: id, edges, record from options, as in `enqueue`
-- edges: '' if it waits for nothing, else a letter for each edge: 'c' if that task must complete, 'e' if it
-- must end, 'r' if it must not complete, '+' for one that has completed. Of a field, whose value is record:
-- '~'; '~l' for a part of a layout, to be added to it; '~a' for more of a list; '~x' for an entry of the
-- outbox; '~s' for one that was staged, whose value is there already. '~r' and the edges: a node that begins
-- again if it has lost a record; of a task record is empty, as it keeps its own
-- Returns {'ok', 1 if the caller must wake a consumer, 2 if this call added them, 1 if an earlier copy of it
--          did, 0 if another call}
--      or {'full'} | {'newer_schema'} | {'lost'} if an entry is not staged any more

local FIRST = 4
local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry)
local plan = new_plan(keys, clock(test_now))
local first = items[FIRST + 1]
local found = redis.call('HMGET', tasks, '~set', '~stats', '~wake', '~ghosts', '~dropped', '~nodes', first)
if read_settings(plan, found[1], found[2]) then
  return { 'newer_schema' }
end
if found[7] and string.sub(items[FIRST + 2], 1, 1) ~= '~' then
  local task = parse_with(found[7], redis.call('HGET', tasks, '.' .. first))
  return { 'ok', 0, task.producer_token == token and 1 or 0 }
end
if not are_staged(expiry, items, FIRST) then
  return { 'lost' }
end
local added, any_ready = begin_nodes(plan, items, FIRST)
local control = { ['~ghosts'] = found[4], ['~dropped'] = found[5] }
plan.ghosts = 0
if may_refuse == '1' and exceeds_max_pending(plan.settings, keys, control, coming(plan)) then
  return { 'full' }
end
local failed = commit_nodes(plan, found[2], found[6], added)
if failed then
  return failed
end
local wakes = wake ~= '' and any_ready and record_wake(tasks, { found[3], found[1] }, plan.now, wake)
return { 'ok', wakes and 1 or 0, 2 }
