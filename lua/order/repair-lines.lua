-- repair-lines: how the deep sweep repairs the lines of groups in strict order. A task in line has the same
-- place in `limited` and in `fair-by-group`: what one of them lacks, the other restores. What `~o:<group>`
-- says follows from `fair-by-group` and from the record of the head.

-- The settings of an order.
SETTINGS = (function(inner)
  inner.o, inner.d = '^[01]$', '^[01]$'
  return inner
end)(SETTINGS)

-- True for a place in a line: a whole number below the scores of all groups.
local function in_line(place)
  local number = tonumber(place or 0)
  return number >= 1 and number < LIMITED_GROUP and number % 1 == 0
end

-- True while the queue's settings say that groups may have an order. The first records come with them.
local function has_order(repair)
  local plan = repair.plan
  if not plan.settings then
    plan.settings = parse_settings(fields_in(repair, { '~set' })[1] or nil)
  end
  return plan.settings.o
end

-- If the settings are lost or unreadable, tasks in line would never be delivered. So groups stay in order
-- until an operator decides. Only what a line and `fair-by-group` both say shows that there are lines.
repair_control = (function(inner)
  local function has_lines(repair)
    local keys, seen = repair.keys, repair.seen
    if seen then
      -- `check` has read all members, and leaves the decision to the scan.
      -- In any order: any of them shows it.
      for member in pairs(seen.fair_by_group) do
        if string.sub(member, 1, 1) == '~' then
          return true
        end
      end
      return false
    end
    local first = redis.call('ZRANGE', keys.fair_by_group, '[~', '+', 'BYLEX', 'LIMIT', '0', '1')[1]
    local group = first and string.match(first, '^~+([^ ]*)')
    return group and select(2, lines.parse_line(redis.call('HGET', keys.tasks, '~o:' .. group)))
  end

  return function(repair, found, observed)
    local set = found['~set']
    local settings = readable_settings(set or '1') or {}
    if not settings.o and has_lines(repair) then
      if set and not readable_settings(set) then
        set_aside(repair, '~set')
      end
      settings.o, found['~set'] = '1', nil
      plan_write(repair.plan, 'HSET tasks', '~set', format_settings(settings))
      report_fault(repair, 'control_broken', '~set')
    end
    return inner(repair, found, observed)
  end
end)(repair_control)

-- A task in line belongs there, except if it is its group's head, which is delivered, or is not yet due. In a
-- queue with an order, a task that was in line is ready without its priority.
zset_of_waiting = (function(inner)
  return function(repair, entry)
    local plan, task, due = repair.plan, entry.task, tonumber(entry.delayed)
    local place, score = tonumber(entry.limited), tonumber(entry.fair)
    if not (has_order(repair) and task.group and (place or score)) then
      return inner(repair, entry)
    end
    open_groups(plan, { task })
    local group = plan.groups[task.group]
    local leads = not group.line.ordered or entry.id == group.line.head
    if in_line(place) and not (due and due >= repair.now + 1) and not (score and leads) then
      return 'limited'
    end
    local number, priority = tonumber(group.settings.number), task.priority
    local lowest = number and number * LIMITED_GROUP / LIMITED_BAND + 9
    if (score and read_score(score) == 0) or (place and math.floor(place / LIMITED_BAND) == lowest) then
      task.priority = nil
    end
    local home = inner(repair, entry)
    task.priority = priority
    return home
  end
end)(zset_of_waiting)

-- The turn of a task in line must exist, too.
repair_waiting = (function(inner)
  return function(repair, entry)
    inner(repair, entry)
    if entry.limited and in_line(entry.limited) then
      append(repair.turns, entry.id, turn_of('~' .. entry.task.group, entry.limited, entry.id))
    end
  end
end)(repair_waiting)

-- The members of lines, and of stopped and held groups, are no turns in `fair`.
repair_turns = (function(inner)
  local function remove_turn(repair, member, name)
    remove_from(repair, 'fair_by_group', member)
    report_fault(repair, 'turn_wrong', name)
  end

  -- After the hold of a line was lost: whether others work on its group is looked at again, for all groups.
  -- Until then lines begin held.
  local function forget_checks(repair)
    local text = fields_in(repair, { '~moved' })[1]
    local moved = holds.parse_moved(text or nil)
    if moved then
      moved.unchecked = string.rep('f', 64)
      plan_write(repair.plan, 'HSET tasks', '~moved', holds.format_moved(moved))
    end
  end

  -- names: of groups that are listed as stopped, and of those that are listed as held behind another `~`.
  local function repair_listed(repair, names)
    local fields = {}
    for i, name in ipairs(names) do
      fields[i] = '~o:' .. string.gsub(name, '^~', '')
    end
    for i, text in ipairs(fields_in(repair, fields)) do
      local line, name = lines.parse_line(text), names[i]
      local listed = line.stopped and line.head
      if string.sub(name, 1, 1) == '~' then
        listed = line.hold
        if not listed and has_order(repair) then
          forget_checks(repair)
        end
      end
      if not (has_order(repair) and listed) then
        remove_turn(repair, '~~' .. name, string.sub(fields[i], 4))
      end
    end
  end

  -- A member without an entry in `limited` gives the task its place back, if the task is in no other zset.
  local function repair_waiting_turns(repair, members, ids)
    local restored = {}
    for i, entry in ipairs(find_entries(repair, ids)) do
      local task = parse_with(has_payload(entry.fixed) and entry.fixed or '', entry.record)
      local member, id, name = members[i], ids[i], '~' .. (task.group or '')
      local place = string.match(member, '^%S+ (%d+) ')
      local waits = task.state == STATE.waiting and has_payload(entry.fixed)
      local lost = waits and not (restored[id] or entry.fair or entry.working or entry.delayed)
      if entry.newer then
        restored[id] = true
      elseif entry.limited and in_line(entry.limited) and member == turn_of(name, entry.limited, id) then
        restored[id] = true
      elseif lost and not entry.limited and in_line(place) and member == turn_of(name, place, id) then
        restored[id] = true
        plan_write(repair.plan, 'ZADD limited', int(place), id)
        report_fault(repair, 'turn_wrong', id)
      else
        remove_turn(repair, member, id)
      end
    end
  end

  return function(repair, members)
    local turns, listed, waiting, ids = {}, {}, {}, {}
    for _, member in ipairs(members) do
      local name = string.match(member, '^~~(.*)$')
      if name then
        listed[#listed + 1] = name
      elseif string.sub(member, 1, 1) == '~' then
        waiting[#waiting + 1] = member
        append(ids, (string.match(member, '%S*$')))
      else
        turns[#turns + 1] = member
      end
    end
    inner(repair, turns)
    if #ids > 0 then
      repair_waiting_turns(repair, waiting, ids)
    end
    if #listed > 0 then
      repair_listed(repair, listed)
    end
  end
end)(repair_turns)

-- Returns the groups with lines among those with states. An unreadable line is set aside, as is one of a
-- queue without an order.
repair_fields = (function(inner)
  return function(repair, found)
    local ids, groups = inner(repair, found)
    for i = 1, #found, 2 do
      local field, text = found[i], found[i + 1]
      local name = string.match(field, '^~o:(.*)$')
      if name then
        if not (has_order(repair) and select(2, lines.parse_line(text))) then
          set_aside(repair, field)
          plan_write(repair.plan, 'HDEL tasks', field)
        end
        append(groups, name, '')
      end
    end
    return ids, groups
  end
end)(repair_fields)

-- What the members of a group's line show: how many there are, and the last places in front and at the back.
local function count_line(keys, group)
  local name, later = '~' .. group.name, LIMITED_GROUP / 2
  local first, middle, last = '[' .. name .. ' ', '(' .. turn_of(name, later, ''), '(' .. name .. '!'
  local function last_place(before)
    local member =
      redis.call('ZRANGE', keys.fair_by_group, before, first, 'BYLEX', 'REV', 'LIMIT', '0', '1')[1]
    return tonumber(string.match(member or '', '^%S+ (%d+) ') or 0)
  end
  local waiting = redis.call('ZLEXCOUNT', keys.fair_by_group, first, last)
  return waiting, last_place(middle), math.max(0, last_place(last) - later)
end

-- Corrects the line of a group, by what it has and by its head. Returns true if it was wrong.
-- head: the head's task, if it has a payload; waits: whether the head is in line.
local function correct_line(plan, group, head, waits)
  local line, keys, stopped = group.line, plan.keys, '~~' .. group.name
  local waiting, front, back = count_line(keys, group)
  local wrong = line.waiting ~= waiting or line.last_front_place < front or line.last_back_place < back
  line.waiting = waiting
  line.last_front_place = math.max(line.last_front_place, front)
  line.last_back_place = math.max(line.last_back_place, back)
  local own = head and head.group == group.name
  if line.stopped and not (own and head.state == STATE.rejected) then
    lines.set_stopped(plan, group, false)
    wrong = true
  elseif line.stopped and tonumber(redis.call('ZSCORE', keys.fair_by_group, stopped) or 1) ~= 0 then
    plan_write(plan, 'ZADD fair_by_group', '0', stopped)
    wrong = true
  end
  if line.hold and tonumber(redis.call('ZSCORE', keys.fair_by_group, '~~~' .. group.name) or 1) ~= 0 then
    plan_write(plan, 'ZADD fair_by_group', '0', '~~~' .. group.name)
    wrong = true
  end
  if line.head and (not own or waits or (has_ended(head) and not line.stopped)) then
    line.head = nil
    wrong = true
  end
  -- It may have lost its hold.
  local doubtful = waiting > 0 and not (line.head or line.hold) and (wrong or not lines.is_busy(group))
  if doubtful and holds.begin(plan, group) then
    wrong = true
  end
  return wrong or (waiting > 0 and not lines.is_busy(group))
end

-- Repairs the lines of groups that are open, after their states. A task of another release stays the head.
local function repair_lines(repair, names)
  local heads, groups, fields = {}, {}, {}
  for _, name in ipairs(names) do
    local group = repair.plan.groups[name]
    if group.line then
      local head = group.line.head or ''
      groups[#groups + 1], heads[#heads + 1] = group, head
      append(fields, head, '.' .. head)
    end
  end
  local places, found = scores_in(repair, 'limited', heads), read_first_lines(repair.keys.tasks, fields)
  for i, group in ipairs(groups) do
    local fixed, record = found[heads[i]], found['.' .. heads[i]]
    local head = has_payload(fixed) and parse_with(fixed, record) or nil
    local left_alone, waits = newer(fixed) or newer(record), places[i] and in_line(finite(places[i]))
    if not left_alone and correct_line(repair.plan, group, head, waits) then
      group.line.changed = true
      report_fault(repair, 'group_wrong', group.name)
    end
  end
end
