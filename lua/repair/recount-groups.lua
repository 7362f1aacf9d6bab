-- recount-groups: corrects the states of groups by the places of their tasks; limited -> fair if there is
-- room then.
local fair = KEYS[1] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[2] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[4] -- zset  id -> lease deadline (ms)
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local counted = ARGV[2] -- '1' if the caller has counted
local items = ARGV -- then for each group: name, before (its state before the count), state (as counted)
-- before and state are empty for none; both are unused if this call counts itself.
-- Returns {'ok', {fault, group, …}} | {'large'}: there are more tasks than one call can count, or a later
--         release's

-- Up to 200 tasks of each place are counted here, at one moment. If there are more, the caller counts all of
-- them page by page. A group that changes meanwhile is left to a later sweep: it is in use, so not stuck.

local STRIDE = 3
local COUNTED = 200
local keys = queue_keys(nil, fair, fair_by_group, limited, working, delayed, tasks)
local repair = new_repair(keys, clock(test_now))
local plan = repair.plan
local names, before, actual = {}, {}, {}

local function count_as(name)
  if not actual[name] then
    names[#names + 1], actual[name] = name, parse_group(name)
  end
  return actual[name]
end

-- Counts the members of a zset into `actual`. Returns true if these are all, and a later release wrote none
-- of them.
local function count(place, add_up)
  local found = redis.call('ZRANGE', place, '0', int(COUNTED), 'WITHSCORES')
  local entries = {}
  for i = 1, #found, 2 do
    entries[#entries + 1] = { id = found[i], score = tonumber(found[i + 1]) }
  end
  local done = visit_entries(tasks, entries, function(entry)
    if grouped(entry.task) and has_payload(entry.fixed) then
      add_up(count_as(entry.task.group or ''), entry.score)
    end
  end)
  return done == #entries and done <= COUNTED and count_left_alone(entries, done) == 0
end

for i = 3, #items, STRIDE do
  local name = items[i]
  names[#names + 1], before[name] = name, items[i + 1]
  actual[name] = parse_group(name, counted == '1' and items[i + 2] or '')
end
if counted ~= '1' and not (count(fair, count_ready) and count(working, count_working)) then
  return { 'large' }
end

local groups = {}
for i, name in ipairs(names) do
  groups[i] = { group = name ~= '' and name or nil, priority = '0' }
end
for first = 1, #groups, MAX_PLAN_LEASES do
  open_groups(plan, { unpack(groups, first, math.min(first + MAX_PLAN_LEASES - 1, #groups)) })
  for i = first, math.min(first + MAX_PLAN_LEASES - 1, #groups) do
    local name = names[i]
    local group, was = plan.groups[name], plan.stored_before['~g:' .. name]
    local number = tonumber(group.settings.number)
    local least = number and int(number * LIMITED_GROUP)
    actual[name].limited = number
        and redis.call('ZCOUNT', limited, least, '(' .. int((number + 1) * LIMITED_GROUP))
      or 0
    local sure = counted ~= '1' or (was or '') == before[name]
    if sure and not newer(was) and correct_group(group, actual[name], was or '') then
      group.changed = true
      report_fault(repair, 'group_wrong', name)
    elseif sure and not newer(was) and lacks_timer(repair, group) then
      group.changed = true
      report_fault(repair, 'timer_wrong', name)
    end
  end
  repair_lines(repair, { unpack(names, first, math.min(first + MAX_PLAN_LEASES - 1, #names)) })
  admit_limited(plan)
  local failed = commit(plan)
  if failed then
    return failed
  end
  clear_plan(plan)
end
return { 'ok', repair.report }
