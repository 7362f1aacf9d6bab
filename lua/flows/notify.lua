-- notify: nodes learn what has become of tasks that they wait for: blocked -> pending | delayed | completed |
-- rejected, or rejected -> blocked. (I1 I3)
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
local wake = ARGV[2] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local items = ARGV -- then for each, at most 200: id, edge (its number, from 0), outcome, because
-- outcome: 'completed', 'failed', or 'open' if a task that had ended is alive again; because: the id of the
-- task that failed
-- Returns {'ok', 1 if the caller must wake a consumer, how many nodes are not known, then what is left to be
--          notified, as in `read-outbox`}
--      or {'newer_schema'}

local FIRST, STRIDE = 2, 4
local keys = queue_keys(pending, fair, fair_by_group, limited, working, delayed, tasks, expiry, dead)
local plan = new_plan(keys, clock(test_now))
local ids = {}
for place = FIRST + 1, #items, STRIDE do
  ids[#ids + 1] = items[place]
end
local found, nodes = flows.open_nodes(plan, ids, { '~set', '~stats', '~wake' })
if read_settings(plan, found[1], found[2]) then
  return { 'newer_schema' }
end
open_groups(plan, nodes)
local unknown = 0
for place = FIRST + 1, #items, STRIDE do
  local id, edge, outcome, because = unpack(items, place, place + STRIDE - 1)
  if plan.nodes[id].found then
    flows.notify_node(plan, plan.nodes[id], tonumber(edge), outcome, because)
  else
    unknown = unknown + 1
  end
end
flows.follow_changes(plan)
local failed = commit(plan)
if failed then
  return failed
end
local wakes = wake ~= ''
  and redis.call('EXISTS', pending, fair) > 0
  and record_wake(tasks, { found[3], found[1] }, plan.now, wake)
return { 'ok', wakes and 1 or 0, unknown, unpack(flows.outbox) }
