-- scan: reads a page of one place, and repairs what that page shows. repair.lua has the rules. (I1 I2 I7)
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
local part = ARGV[2] -- which place: the part of a key
local cursor = ARGV[3] -- '0' for the first page, else the cursor of the previous page; an index for the list
local size = ARGV[4] -- about this many entries, 1 to 400
-- Returns {'ok', cursor of the next page ('0': none), how many entries there were, bytes of their records,
--          ghosts added, {fault, id, …}, {id, its ghosts, 1 if it waits in the list, witness, …},
--          {group, its state, …}, {timer, …}, {id, group, what its state counts of it, …},
--          {id and attempts of each new dead letter, …}, {id of a node of a flow that has not ended, …}}
-- witness: changes with the task; see repair.lua. What a state counts: '1' for a working task,
--          '<priority>=<tag>' in `fair`, '' in `limited`
--      or {'newer_schema'}

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
local groups, timers, expected, members, nodes = {}, {}, {}, {}, {}

-- Reads ids of the list, each once, and their indexes from the left.
local function read_list()
  local first = tonumber(cursor)
  local found = redis.call('LRANGE', pending, cursor, int(first + size - 1))
  local ids, places = {}, {}
  for i, id in ipairs(found) do
    append(ids, not places[id] and id or nil)
    places[id] = places[id] or {}
    append(places[id], first + i - 1)
  end
  return #found < tonumber(size) and '0' or int(first + #found), ids, places
end

-- Reads ids of a zset. Members that are no ids are kept apart.
local function read_zset()
  local page = redis.call('ZSCAN', keys[(string.gsub(part, '-', '_'))], cursor, 'COUNT', size)
  local ids, times = {}, {}
  for i = 1, #page[2], 2 do
    local member = page[2][i]
    local control = string.sub(member, 1, 1) == '~'
    local list = control and part == 'delayed' and timers or control and part == 'expiry' and times or ids
    list[#list + 1] = member
  end
  repair_times(repair, times)
  return page[1], ids
end

-- Reads ids of the hash, and repairs fields that are no records of tasks.
local function read_tasks()
  local page = redis.call('HSCAN', tasks, cursor, 'COUNT', size)
  local found, states = repair_fields(repair, page[2])
  groups = states
  return page[1], found
end

-- Repairs ids. Returns the reply if the call ends here.
local function look_at_ids(ids, places)
  local entries, blanks = find_entries(repair, ids), {}
  if repair.newer then
    return { 'newer_schema' }
  end
  for _, entry in ipairs(entries) do
    entry.listed = places and true
  end
  local failed = repair_entries(repair, entries)
  for _, entry in ipairs(entries) do
    local task = entry.task
    if entry.expected > 0 then
      append(expected, entry.id, entry.ghosts)
      append(expected, entry.waits, entry.witness)
    elseif places and not entry.newer then
      for _, index in ipairs(places[entry.id]) do
        append(blanks, index)
        report_fault(repair, entry.live and 'two_places' or 'payload_missing', entry.id)
      end
    end
    append(nodes, not entry.newer and is_open_node(entry) and entry.id or nil)
    local band, tag = read_score(tonumber(entry.fair or 0))
    local counted = entry.working and '1'
      or entry.fair and int(band) .. '=' .. int(tag)
      or entry.limited and ''
    if counted and entry.live and grouped(task) and not entry.newer then
      append(members, entry.id, task.group or '')
      members[#members + 1] = counted
    end
  end
  return failed or blank(repair, blanks)
end

local read_part = { tasks = read_tasks, pending = read_list }
local next_cursor, ids, places = (read_part[part] or read_zset)()
local answer
if part == 'worker-leases' then
  repair_leases(repair, ids)
  answer = write_repairs(repair)
elseif part == 'fair-by-group' then
  repair_turns(repair, ids)
  if repair.newer then
    answer = { 'newer_schema' }
  else
    answer = write_repairs(repair)
  end
elseif part == 'workers' then
  repair_workers(repair, ids)
  answer = write_repairs(repair)
else
  answer = look_at_ids(ids, places)
end
local reply =
  { 'ok', next_cursor, #ids, repair.bytes, repair.ghosts, repair.report, expected, groups, timers }
append(reply, members, repair.dead_letters)
reply[#reply + 1] = nodes
return answer or reply
