-- place-lost: gives tasks without a place one at the back, and corrects the ghosts of ids, if nothing has
-- changed since before the list was read. (I1)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[5] -- zset  id -> lease deadline (ms)
local delayed = KEYS[6] -- zset  id -> due (ms)
local tasks = KEYS[7] -- hash  records and control fields
local expiry = KEYS[8] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[9] -- zset  id -> when it was rejected (ms)
local workers = KEYS[10] -- zset  worker -> when it counts as silent (ms)
local worker_leases = KEYS[11] -- zset  '<worker> <lease number> <id>' of each lease
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local items = ARGV -- then for each: id, witness (before the list was read), seen (its entries in the list)
-- Returns {'ok', ghosts added, ghosts dropped, {fault, id, …}, {id and attempts of each new dead letter, …}}
--      or {'newer_schema'}

-- This changes no valid task. The caller read the list from the left, where entries are added. Entries only
-- move to the right, so the caller saw each entry that was there all the time. If a task leaves the list or
-- enters it, its witness changes.

local STRIDE = 3
local keys = queue_keys(
  pending,
  fair,
  fair_by_group,
  limited,
  working,
  delayed,
  tasks,
  expiry,
  dead,
  workers,
  worker_leases
)
local repair = new_repair(keys, clock(test_now))
local ids, witness, seen = {}, {}, {}
local added, dropped = 0, 0
for i = 2, #items, STRIDE do
  local id = items[i]
  ids[#ids + 1], witness[id], seen[id] = id, items[i + 1], tonumber(items[i + 2])
end
local entries = find_entries(repair, ids)
if repair.newer then
  return { 'newer_schema' }
end

local function place_entry(entry)
  local id, task, plan = entry.id, entry.task, repair.plan
  if entry.witness ~= witness[id] or entry.expected <= seen[id] then
    return
  end
  local ghosts = math.max(0, seen[id] - entry.waits)
  added = added + math.max(0, ghosts - entry.ghosts)
  dropped = dropped + math.max(0, entry.ghosts - ghosts)
  task.ghosts = ghosts > 0 and int(ghosts) or nil
  if entry.waits == 1 and seen[id] == 0 then
    local group = grouped(task) and plan.groups[task.group or '']
    local share = group and group.bands[tonumber(task.priority or 0)]
    if share and share.last_tag >= LATEST_TAG then
      share.last_tag = 0
    end
    transition(task, 'pending', repair.now)
    make_ready(plan, id, task, 'back')
    report_fault(repair, 'place_missing', id)
  else
    report_fault(repair, 'ghosts_wrong', id)
  end
  local nothing = task.state == STATE.ghost and ghosts == 0
  entry.fixed = not nothing and entry.fixed
  entry.record = not nothing and rewritten(repair, entry)
end

local failed = repair_entries(repair, entries, place_entry)
if failed then
  return failed
end
if added > 0 then
  redis.call('HINCRBY', tasks, '~ghosts', int(added))
end
if dropped > 0 then
  redis.call('HINCRBY', tasks, '~dropped', int(dropped))
end
return { 'ok', added, dropped, repair.report, repair.dead_letters }
