-- check: reads all of a small queue and reports whether it is valid. Changes nothing.
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
local schedules = KEYS[12] -- zset  schedule -> its next occurrence (ms)
local timetable = KEYS[13] -- hash  records of schedules, and their recurring tasks
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
-- Returns {'valid', how many entries there were, 1 if it has schedules, plus 2 if it has anything of flows}
--      or {'scan', 0, 1}: the deep sweep would write something, or a later release wrote some of the queue
--      or {'large', 0, 1}: there is too much to read
-- After 'scan' and 'large', the deep sweep must scan the queue page by page.

-- It applies the rules of the deep sweep to all of the queue, and writes nothing.

-- How many members a place may have.
local MEMBERS = 128

-- How many pages of the hash are read at most, a small one first, then pages of at most PAGE fields; and
-- about how many bytes. The slots of dequeues are among the fields.
local PAGES = 4
local FIRST_PAGE = 16
local PAGE = 1000
local BYTES = 1000000

local PLACES =
  { 'fair', 'fair_by_group', 'limited', 'working', 'delayed', 'expiry', 'dead', 'workers', 'worker_leases' }

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
local parts =
  { pending, fair, fair_by_group, limited, working, delayed, tasks, expiry, dead, workers, worker_leases }
append(parts, schedules, timetable)
if redis.call('EXISTS', unpack(parts)) == 0 then
  return { 'valid', 0, 0 }
end

local repair = new_repair(keys, clock(test_now))
local members, listed, fields = {}, {}, {}
repair.seen = { tasks = {} }

-- Reads all of the hash. Returns false if that is too much.
local function read_tasks()
  local cursor, size, bytes, records = '0', FIRST_PAGE, 0, 0
  for _ = 1, PAGES do
    local page = redis.call('HSCAN', tasks, cursor, 'COUNT', int(size))
    for i = 1, #page[2], 2 do
      local field, text = page[2][i], page[2][i + 1]
      if not repair.seen.tasks[field] then
        append(fields, field, text)
        bytes = bytes + #text
        records = records + (string.sub(field, 1, 1) ~= '~' and 1 or 0)
      end
      repair.seen.tasks[field] = text
    end
    cursor = page[1]
    if cursor == '0' or bytes > BYTES or records > 4 * MEMBERS then
      break
    end
    size = math.min(PAGE, 1 + math.floor((BYTES - bytes) * (#fields / 2 + 1) / (bytes + 1)))
  end
  return cursor == '0'
end

-- Reads the list and all zsets. Returns false if that is too much.
local function read_places()
  listed = redis.call('LRANGE', pending, '0', int(MEMBERS))
  if #listed > MEMBERS then
    return false
  end
  for _, place in ipairs(PLACES) do
    local found = redis.call('ZRANGE', keys[place], '0', int(MEMBERS), 'WITHSCORES')
    repair.seen[place], members[place] = {}, {}
    for i = 1, #found, 2 do
      repair.seen[place][found[i]] = found[i + 1]
      members[place][(i + 1) / 2] = found[i]
    end
    if #members[place] > MEMBERS then
      return false
    end
  end
  return true
end

-- True if there is nothing to report or to write.
local function nothing_found()
  local found = #repair.report + #repair.deadlines + #repair.lost
  -- In any order: all of them are counted.
  for _, args in pairs(repair.plan.writes) do
    found = found + #args
  end
  -- In any order: all of them are counted.
  for _, ids in pairs(repair.removals) do
    found = found + #ids
  end
  return found == 0
end

-- Splits the members of a zset into ids and others.
local function split(place)
  local ids, others = {}, {}
  for _, member in ipairs(members[place]) do
    local list = string.sub(member, 1, 1) == '~' and others or ids
    list[#list + 1] = member
  end
  return ids, others
end

local looked, known, ids = 0, {}, {}

-- Adds ids to `ids`, each once.
local function take_in(found)
  looked = looked + #found
  for _, id in ipairs(found) do
    if not known[id] then
      known[id] = true
      ids[#ids + 1] = id
    end
  end
end

-- True if the list and the counts of ghosts and timers are right, and no entry that dequeue took out of the
-- line is unchecked.
local function counts_agree(entries, timers)
  local control, ghosts, places = repair.seen.tasks, 0, {}
  for _, id in ipairs(listed) do
    places[id] = (places[id] or 0) + 1
  end
  for _, entry in ipairs(entries) do
    ghosts = ghosts + entry.ghosts
    if (places[entry.id] or 0) ~= entry.expected then
      return false
    end
  end
  return remaining(control, '~ghosts', '~dropped') == ghosts
    and remaining(control, '~timers', '~elapsed') == timers
    and remaining(control, '~broken', '~checked') == 0
end

-- True if the states of groups agree with `fair`, `limited` and `working`.
local function groups_agree(entries, names, groups)
  local actual = {}
  for _, name in ipairs(names) do
    actual[name] = parse_group(name)
  end
  for _, entry in ipairs(entries) do
    local task = entry.task
    local actual_state = grouped(task) and entry.live and actual[task.group or '']
    if actual_state and entry.fair then
      count_ready(actual_state, tonumber(entry.fair))
    elseif actual_state and entry.working then
      count_working(actual_state)
    end
  end
  for _, name in ipairs(names) do
    local group, actual_state = groups[name], actual[name]
    local number = tonumber(group.settings.number)
    for _, id in ipairs(number and members.limited or {}) do
      actual_state.limited = actual_state.limited
        + (math.floor(tonumber(repair.seen.limited[id]) / LIMITED_GROUP) == number and 1 or 0)
    end
    local was = repair.plan.stored_before['~g:' .. name] or ''
    if newer(was) or correct_group(group, actual_state, was) or lacks_timer(repair, group) then
      return false
    end
  end
  return true
end

-- True if `~nodes` is how many nodes of flows have not ended. Notes whether there are any nodes.
local function nodes_agree(entries)
  local count = 0
  for _, entry in ipairs(entries) do
    repair.has_flows = repair.has_flows or entry.task.flow ~= nil
    count = count + (is_open_node(entry) and 1 or 0)
  end
  return count == tonumber(repair.seen.tasks['~nodes'] or 0)
end

local function is_valid()
  local found = {}
  for _, name in ipairs(CONTROL_NAMES) do
    found[name] = repair.seen.tasks[name]
  end
  if newer_settings(found['~set']) then
    return false
  end
  repair.plan.settings = parse_settings(found['~set'])
  local next_silent = members.workers[1]
  local first = next_silent and math.floor(tonumber(finite(repair.seen.workers[next_silent])))
  local timer = tonumber(finite(repair.seen.delayed['~w'] or ''))
  repair_control(
    repair,
    found,
    { fair = #members.fair, limited = #members.limited, first = first, timer = timer }
  )

  local fields_ids, states = repair_fields(repair, fields)
  local later, timers = split('delayed')
  local ends, times = split('expiry')
  repair_times(repair, times)
  repair_leases(repair, members.worker_leases)
  repair_turns(repair, members.fair_by_group)
  repair_workers(repair, members.workers)
  for _, place in ipairs({
    members.working,
    members.fair,
    members.limited,
    later,
    members.dead,
    ends,
    fields_ids,
  }) do
    take_in(place)
  end
  local once, met = {}, {}
  for _, id in ipairs(listed) do
    if not met[id] then
      met[id], once[#once + 1] = true, id
    end
  end
  take_in(once)
  looked = looked + #members.worker_leases + #members.fair_by_group + #members.workers

  local entries, group_samples, names, named = find_entries(repair, ids), {}, {}, {}
  for _, entry in ipairs(entries) do
    if entry.newer then
      return false
    end
    interpret(repair, entry)
    if entry.live and grouped(entry.task) then
      group_samples[#group_samples + 1] = entry.task
    end
  end
  if not nothing_found() then
    return false
  end
  for i = 1, #states, 2 do
    group_samples[#group_samples + 1] = { group = states[i] ~= '' and states[i] or nil, priority = '0' }
  end
  open_groups(repair.plan, group_samples)
  for _, entry in ipairs(entries) do
    repair_entry(repair, entry)
    put_field(repair, entry.id, entry.had_fixed, entry.fixed)
    put_field(repair, '.' .. entry.id, entry.had_record, entry.record)
  end
  missing_members(repair, 'worker_leases', repair.worker_leases, 'worker_lease_wrong')
  missing_members(repair, 'fair_by_group', repair.turns, 'turn_wrong')
  for _, task in ipairs(group_samples) do
    local name = task.group or ''
    if not named[name] then
      named[name], names[#names + 1] = true, name
    end
  end
  repair_lines(repair, names)
  return nothing_found()
    and nodes_agree(entries)
    and counts_agree(entries, #timers)
    and groups_agree(entries, names, repair.plan.groups)
end

if not (read_places() and read_tasks()) then
  return { 'large', 0, 1 }
end
if not is_valid() then
  return { 'scan', 0, 1 }
end
local kinds = redis.call('EXISTS', schedules, timetable) > 0 and 1 or 0
for i = 1, #fields, 2 do
  repair.has_flows = repair.has_flows or string.find(fields[i], '^~[Fx]:') ~= nil
end
if repair.has_flows then
  kinds = kinds + 2
end
return { 'valid', looked, kinds }
