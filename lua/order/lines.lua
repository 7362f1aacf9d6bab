-- lines: strict order within a group. Only one task of such a group, the head of its line, is ready, works or
-- waits for another attempt. The tasks behind it wait in `limited`, below the numbers of all groups, and in
-- `fair-by-group` as `~<group> <place> <id>`. When the head has ended, the next one follows. If the head
-- ends as a dead letter and is to stop the group, it stays the head until an operator redrives, removes or
-- skips it. ../order.md specifies the records.

local lines = (function()
  -- The line of a task's group, marked as changed, and the group; nil if it has no line.
  local function line_of(plan, task)
    local group = task.group and plan.groups[task.group]
    if group and group.line then
      group.line.changed = true
      return group.line, group
    end
    return nil, nil
  end

  -- Puts a task into the line of its group. in_front: for one that was in `fair`: ahead of all that never
  -- were.
  local function line_up(plan, group, id, in_front)
    local LATER = LIMITED_GROUP / 2 -- places from here on are of tasks that were never in `fair`
    local line = group.line
    local last = in_front and 'last_front_place' or 'last_back_place'
    line[last] = line[last] + 1
    local place = line[last] + (in_front and 0 or LATER)
    line.waiting, plan.times.limited = line.waiting + 1, plan.times.limited + 1
    line.added[#line.added + 1] = { place = place, id = id }
    group.changed = true
    plan_write(plan, 'ZADD limited', int(place), id)
    plan_write(plan, 'ZADD fair_by_group', '0', turn_of('~' .. group.name, place, id))
  end

  -- Takes a task out of the line. The caller removes it from `limited`.
  local function leave_line(plan, group, id, place)
    local line, member = group.line, turn_of('~' .. group.name, place, id)
    line.waiting, plan.times.limited = math.max(0, line.waiting - 1), math.max(0, plan.times.limited - 1)
    line.left = line.left + 1
    group.changed = true
    plan.removed_turns[member] = true
    plan_write(plan, 'ZREM fair_by_group', member)
  end

  -- True while a group has a task that is ready, works or waits for another attempt, or its line is held.
  local function is_busy(group)
    return group.line.head or group.line.hold or group.working + group.ready + group.limited > 0
  end

  -- Sets whether the head of a group stops it. `fair-by-group` lists the groups that are stopped.
  local function set_stopped(plan, group, stopped)
    local line, member = group.line, '~~' .. group.name
    if stopped and not line.stopped then
      plan_write(plan, 'ZADD fair_by_group', '0', member)
    elseif line.stopped and not stopped then
      plan_write(plan, 'ZREM fair_by_group', member)
    end
    line.stopped = stopped
  end

  -- The task that stops a group is its head no longer. Returns false if it does not stop it.
  local function leave_stopped(plan, task, id)
    local line, group = line_of(plan, task)
    if line and line.stopped and line.head == id then
      set_stopped(plan, group, false)
      line.head = nil
      return true
    end
    return false
  end

  -- The priority of a task in `fair` is that of its score: of a group in order, no other counts.
  local function follow_score(task, score)
    local band = read_score(tonumber(score))
    task.priority = band > 0 and int(band) or nil
  end

  -- `~o:<group>`: how many wait, the last places given in front and at the back, whether the group is
  -- stopped, by what it is held, and the head's id. Returns the line, and whether there is one that is
  -- readable.
  local function parse_line(text)
    local waiting, front, back, stopped, hold, head =
      string.match(text or '', '^1;(%d+);(%d+);(%d+);(s?)h?([^;]*);(.*)$')
    local line = { stopped = stopped == 's', added = {}, left = 0 }
    line.hold = hold ~= '' and hold or nil
    line.waiting = tonumber(waiting or 0)
    line.last_front_place, line.last_back_place = tonumber(front or 0), tonumber(back or 0)
    line.head = head ~= '' and head or nil
    return line, waiting ~= nil
  end

  return {
    parse_line = parse_line,
    line_of = line_of,
    line_up = line_up,
    leave_line = leave_line,
    is_busy = is_busy,
    set_stopped = set_stopped,
    leave_stopped = leave_stopped,
    follow_score = follow_score,
  }
end)()

-- Version 2 of settings says that groups may have a strict order: `o` and `d`, of the queue or a group.
read_settings = (function(inner)
  return function(plan, set, stats)
    return inner(plan, set, stats) and string.sub(set, 1, 2) ~= '2;'
  end
end)(read_settings)

-- Once a group had an order, the queue's settings say so for ever, as tasks may still be in line. Those of a
-- group that loses its order get ready.
-- plan, group, was, set: of a change of settings: whose they are, what they were, and those of the queue.
format_settings = (function(inner)
  return function(settings, plan, group, was, set)
    local all = group == '' and settings or parse_settings(set or nil)
    if plan and (was.o or settings.o) and not all.o then
      all.o = '0'
      plan_write(plan, 'HSET tasks', '~set', inner(all))
    end
    local state = plan and plan.groups[group]
    if state and state.line and was.o ~= settings.o then
      state.line.ordered = (settings.o or all.o) == '1'
      state.line.changed, state.changed = true, true
    end
    return inner(settings)
  end
end)(format_settings)

-- Also reads the lines of the groups, if the queue's settings say that they may have an order.
open_groups = (function(inner)
  return function(plan, tasks)
    local before = plan.groups_read
    inner(plan, tasks)
    if plan.groups_read == before or (plan.settings and not plan.settings.o) then
      return
    end
    local names, fields = {}, {}
    -- In any order: each has a field of its own.
    for name, group in pairs(plan.groups) do
      if name ~= '' and not group.line then
        names[#names + 1] = name
        fields[#fields + 1] = '~o:' .. name
      end
    end
    if #names == 0 then
      return
    end
    append(fields, '~moved', '~set')
    local found = read('HMGET', plan.keys.tasks, fields)
    local all = parse_settings(found[#fields] or nil)
    if not plan.moved then
      plan.stored_before['~moved'] = found[#fields - 1]
      plan.moved = holds.parse_moved(found[#fields - 1])
    end
    for i, name in ipairs(all.o and names or {}) do
      local own, line =
        parse_settings(plan.stored_before['~s:' .. name] or nil), lines.parse_line(found[i] or nil)
      line.ordered, line.stops = (own.o or all.o) == '1', (own.d or all.d) == '1'
      plan.stored_before[fields[i]], plan.groups[name].line = found[i], line
    end
  end
end)(open_groups)

-- Only the head of a group in strict order gets ready.
make_ready = (function(inner)
  return function(plan, id, task, place)
    local line, group = lines.line_of(plan, task)
    if line and line.ordered then
      task.priority = nil
    end
    if line and line.ordered and id ~= line.head and place ~= 'aside' then
      if line.waiting > 0 or lines.is_busy(group) or holds.begin(plan, group) then
        task.fair_score = nil
        return lines.line_up(plan, group, id)
      end
      line.head = id
    end
    return inner(plan, id, task, place)
  end
end)(make_ready)

-- A task that has begun keeps the head of its line.
wait_again = (function(inner)
  return function(plan, id, task, text, place, due)
    local line, group = lines.line_of(plan, task)
    if line and line.head == id then
      lines.set_stopped(plan, group, false)
    elseif line and line.ordered and not line.head and task.state == STATE.working then
      line.head = not line.hold and not holds.is_moved(plan, group) and id or nil
    end
    return inner(plan, id, task, text, place, due)
  end
end)(wait_again)

-- The head leaves its line, or stops the group.
end_task = (function(inner)
  local STOPPING_TTL = 315360000000 -- how long (ms) a dead letter is kept that stops its group: ten years

  return function(plan, id, task, text, state, reason, given)
    -- A purge of delayed tasks reads no groups, but one of them may be a head.
    if task.group and not plan.groups[task.group] and plan.settings and plan.settings.o then
      open_groups(plan, { task })
    end
    local line, group = lines.line_of(plan, task)
    local is_head = line and line.head == id
    local stops = is_head and line.ordered and line.stops and state == 'rejected' and reason ~= 'cancelled'
    inner(plan, id, task, text, state, reason, stops and STOPPING_TTL or given)
    if stops then
      lines.set_stopped(plan, group, true)
    elseif is_head then
      line.head = nil
    end
  end
end)(end_task)

-- A task may also leave a line.
refund = (function(inner)
  return function(plan, id, task, place, score)
    local line, group = lines.line_of(plan, task)
    if line and place == plan.keys.limited and tonumber(score) < LIMITED_GROUP then
      return lines.leave_line(plan, group, id, score)
    elseif line and place == plan.keys.fair then
      lines.follow_score(task, score)
    end
    return inner(plan, id, task, place, score)
  end
end)(refund)

-- Tasks may be in `fair` that were ready before their group got its order: the first of them becomes the
-- head, and the others go to the front of the line.
move_if_limited = (function(inner)
  return function(plan, entry, place)
    local line, group = nil, nil
    if not in_list(place) then
      line, group = lines.line_of(plan, entry.task)
    end
    if line then
      lines.follow_score(entry.task, place.score)
    end
    if line and line.ordered and entry.id ~= line.head then
      if line.head or line.hold or group.working > 0 or holds.begin(plan, group) then
        take_turn(plan, entry.task, place.score, entry.id)
        lines.line_up(plan, group, entry.id, true)
        return true
      end
      line.head = entry.id
    end
    return inner(plan, entry, place)
  end
end)(move_if_limited)

-- Writes the lines that have changed, too.
write_groups = (function(inner)
  -- Makes the next task of a line its head, if no other task of the group is in its way. Without an order,
  -- the tasks of the line get ready together.
  local function release_next(plan, group)
    local MOST = 100 -- tasks of a line without an order, in one call
    local line, name, waiting = group.line, '~' .. group.name, {}
    local most = line.ordered and (lines.is_busy(group) and 0 or 1) or MOST
    if most == 0 or line.waiting == 0 then
      return
    end
    local first, last, limit = '[' .. name .. ' ', '(' .. name .. '!', int(most + line.left)
    local found = redis.call('ZRANGE', plan.keys.fair_by_group, first, last, 'BYLEX', 'LIMIT', '0', limit)
    for _, member in ipairs(found) do
      local place, id = string.match(member, ' (%d+) (%S+)$')
      if place and not plan.removed_turns[member] then
        waiting[#waiting + 1] = { place = tonumber(place), id = id }
      end
    end
    -- Those that this plan has put there.
    for _, entry in ipairs(line.added) do
      if not plan.removed_turns[turn_of(name, entry.place, entry.id)] then
        waiting[#waiting + 1] = entry
      end
    end
    table.sort(waiting, function(one, other)
      return one.place < other.place
    end)
    for i = 1, math.min(most, #waiting) do
      local place, id = waiting[i].place, waiting[i].id
      lines.leave_line(plan, group, id, place)
      plan_write(plan, 'ZREM limited', id)
      if line.ordered then
        line.head = id
      end
      make_ready(plan, id, { group = group.name }, 'back')
    end
  end

  local function format_line(line)
    if line.waiting == 0 and not line.head and not line.hold then
      return ''
    end
    local front, back =
      line.waiting > 0 and line.last_front_place or 0, line.waiting > 0 and line.last_back_place or 0
    local state = (line.stopped and 's' or '') .. (line.hold and 'h' .. line.hold or '')
    return table.concat({ '1', int(line.waiting), int(front), int(back), state, line.head or '' }, ';')
  end

  return function(plan)
    -- In any order: the lines are independent.
    for name, group in pairs(plan.groups) do
      local line = group.line
      if line and line.changed then
        release_next(plan, group)
        holds.end_empty(plan, group)
        local field, text = '~o:' .. name, format_line(line)
        local before = plan.stored_before[field] or ''
        if text ~= '' and text ~= before then
          plan_write(plan, 'HSET tasks', field, text)
        elseif text == '' and before ~= '' then
          plan_write(plan, 'HDEL tasks', field)
        end
        plan.stored_before[field] = text
        line.changed, line.added, line.left = nil, {}, 0
      end
    end
    return inner(plan)
  end
end)(write_groups)

-- An operator deletes the dead letter that stops a group.
erase = (function(inner)
  return function(plan, id, task)
    if task.group and task.state == STATE.rejected and plan.settings.o and not plan.groups[task.group] then
      open_groups(plan, { task })
    end
    lines.leave_stopped(plan, task, id)
    return inner(plan, id, task)
  end
end)(erase)

-- The dead letter that stops a group begins a new life.
begin_task = (function(inner)
  return function(call, draft, old)
    local plan = call.plan
    if old and old.group and old.state == STATE.rejected and plan.settings.o then
      open_groups(plan, { old })
      lines.leave_stopped(plan, old, draft.id)
    end
    return inner(call, draft, old)
  end
end)(begin_task)
