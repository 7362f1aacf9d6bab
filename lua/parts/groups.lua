-- groups: shares a queue among groups, by weighted fair queueing. Each task of a group or with a priority has
-- a tag: the virtual time at which its group's share pays for it. The zset `fair` has them in that order,
-- priority by priority. Tasks beyond a group's limit wait in the zset `limited`, where they block no others.
-- The zset `fair-by-group` lists the turns of each group. If a task leaves before its turn, the group's tasks
-- behind it move up, as if it had never been there.

-- The virtual time that one delivery costs a group of weight 1. It is divisible by all weights from 1 to 10.
local SHARE = 25200

-- Range of the tags of one priority in a score. It is enough for 22 thousand million deliveries. When a
-- dequeue leaves no task pending, tags begin at 0 again.
local BAND = 562949953421312

-- The score in `fair` of a tag in a priority.
local function score_at(band, tag)
  return (9 - band) * BAND + tag
end

-- The priority and the tag in a score of `fair`.
local function read_score(score)
  return 9 - math.floor(score / BAND), score % BAND
end

-- Range of the scores in `limited` of one group, and within it of one priority.
local LIMITED_GROUP = 68719476736

local LIMITED_BAND = 4294967296

-- Within the range of a priority, places from here on are of tasks that were never in `fair`.
local LIMITED_LATER = 2147483648

-- True for a task with a group or a priority: it waits in `fair` or `limited`, not in the list.
local function grouped(task)
  return task.group or task.priority
end

-- How many tasks of a group wait in `limited` until other tasks of the group end, because the group has
-- reached `max_working`. It is unknown when a holder settles, so no timer can be set for them.
local function count_stuck(group)
  local most = tonumber(group.settings.max_working)
  return most and group.working + group.ready >= most and group.limited or 0
end

-- The letters of a group's state; README.md says what each counts. Digits are priorities.
local GROUP_FIELDS = {
  v = 'version',
  w = 'working',
  h = 'limited',
  p = 'last_front_place',
  q = 'last_back_place',
  u = 'used',
}

local function parse_group(name, state, settings, now)
  local group =
    { name = name, working = 0, limited = 0, last_front_place = 0, last_back_place = 0, used = '' }
  group.ready, group.newly_limited, group.bands = 0, 0, {}
  for letter, value in string.gmatch(state or '', ';(%w)=([^;]*)') do
    local last_tag, ready, moved_up_to = string.match(value, '^(%d+),(%d+),?(%d*)$')
    local field = GROUP_FIELDS[letter]
    if last_tag and tonumber(letter) then
      group.bands[tonumber(letter)] =
        { last_tag = tonumber(last_tag), ready = tonumber(ready), moved_up_to = tonumber(moved_up_to) }
      group.ready = group.ready + ready
    elseif field then
      group[field] = field == 'used' and value or tonumber(value) or 0
    end
  end
  group.settings = parse_settings(settings, now)
  if not group.settings.number then
    -- Without a number no task can be in `limited`, whatever a broken state or setting says.
    group.limited, group.settings = 0, { weight = group.settings.weight }
  elseif group.settings.paused then
    -- With this rate none is ever delivered.
    group.settings.rate = '0/1'
  end
  group.stuck = count_stuck(group)
  return group
end

-- The state of a group as text; empty if there is nothing to keep. The version differs in each state of a
-- group: the deep sweep counts while the queue is in use, and sees by it whether a group has changed.
local function format_group(group)
  local text = ''
  for _, letter in ipairs({ 'w', 'h', 'p', 'q', 'u' }) do
    local value = group[GROUP_FIELDS[letter]]
    if value ~= '' and value ~= 0 and (group.limited > 0 or (letter ~= 'p' and letter ~= 'q')) then
      text = text .. ';' .. letter .. '=' .. (letter == 'u' and value or int(value))
    end
  end
  for band = 0, 9 do
    local share = group.bands[band]
    if share and share.ready > 0 then
      text = text .. ';' .. int(band) .. '=' .. int(share.last_tag) .. ',' .. int(share.ready)
      text = text .. (share.moved_up_to and ',' .. int(share.moved_up_to) or '')
    end
  end
  if text == '' then
    return ''
  end
  return '1' .. (group.version and ';v=' .. int(group.version) or '') .. text
end

-- The letters of `~fair`. Digits are priorities, and have their virtual times.
local CLOCK_FIELDS = {
  l = 'list_tag', -- the tag of the list's next task
  h = 'limited', -- how many tasks wait in `limited`
  m = 'stuck', -- how many of these wait until others of their group end; see `count_stuck`
  t = 'written_at', -- while tasks wait in `limited`: the latest time (ms) at which this field was written
  c = 'reset_from', -- while timers are set anew: the number of the group at which `reset_timers` continues
}

local function parse_clock(text)
  local times = { limited = 0, stuck = 0 }
  for letter, value in string.gmatch(text or '', ';(%w)=(%d+)') do
    times[tonumber(letter) or CLOCK_FIELDS[letter] or letter] = tonumber(value)
  end
  return times
end

local function format_clock(times)
  local text = '1'
  for letter in string.gmatch('0123456789lhmtc', '%w') do
    local value = times[tonumber(letter) or CLOCK_FIELDS[letter]]
    if value and value > 0 then
      text = text .. ';' .. letter .. '=' .. int(value)
    end
  end
  return text
end

-- Reads the groups of tasks that a plan does not have yet. Runs no command if no task has one.
local function open_groups(plan, tasks)
  local names, fields = {}, {}
  for _, task in ipairs(tasks) do
    local name = grouped(task) and (task.group or '')
    if name and not plan.groups[name] then
      plan.groups[name] = {}
      names[#names + 1] = name
      append(fields, '~g:' .. name, '~s:' .. name)
    end
  end
  if #names == 0 then
    return
  end
  plan.groups_read = plan.groups_read + #names
  if not plan.times then
    fields[#fields + 1] = '~fair'
  end
  local found = read('HMGET', plan.keys.tasks, fields)
  plan.times = plan.times or parse_clock(found[#fields])
  for i, field in ipairs(fields) do
    plan.stored_before[field] = found[i]
  end
  for i, name in ipairs(names) do
    local group = parse_group(name, found[2 * i - 1], found[2 * i], plan.now)
    -- During a deep sweep a rate may be unreadable.
    if plan.now and string.find(group.settings.rate or '', '^%d+/%d+$') then
      local _, _, used, jumped = measure_rate(group.settings.rate, group.used, plan.now, 0)
      if jumped then
        group.used, group.changed = used, true
      end
    end
    plan.groups[name] = group
  end
end

-- The group of a task, marked as changed.
local function group_of(plan, task)
  local group = plan.groups[task.group or '']
  group.changed = true
  return group
end

-- How many more tasks of a group may be delivered.
local function deliverable(group, now)
  local free = (group.settings.max_working or math.huge) - group.working
  if group.settings.rate then
    free = math.min(free, (measure_rate(group.settings.rate, group.used, now, 0)))
  end
  return free
end

-- How many more tasks of a group may be ready or working.
local function room(group, now)
  return deliverable(group, now) - group.ready
end

-- How many tasks of a group are ready with a lower priority. A task of a higher priority goes before them,
-- and the limit applies at delivery.
local function ready_below(group, band)
  local count = 0
  for lower = 0, band - 1 do
    local share = group.bands[lower]
    count = count + (share and share.ready or 0)
  end
  return count
end

-- Changes the number of ready tasks of a group. Returns its share of the priority.
local function add_ready(group, band, amount)
  local share = group.bands[band] or { last_tag = 0, ready = 0 }
  group.bands[band] = share
  share.ready = share.ready + amount
  group.ready = group.ready + amount
  return share
end

local function cost_of(group)
  return math.floor(SHARE / (group.settings.weight or 1))
end

-- A member of `fair-by-group`: sorted by group, then by score.
local function turn_of(group, score, id)
  return group .. ' ' .. string.format('%016.0f', tonumber(score)) .. ' ' .. id
end

local function add_to_fair(plan, group, score, id)
  plan_write(plan, 'ZADD fair', int(score), id)
  plan_write(plan, 'ZADD fair_by_group', '0', turn_of(group.name, score, id))
end

-- Adds to a plan that a task leaves `fair`. Returns its group's share of that priority.
local function remove_from_fair(plan, task, score, id)
  local group, band = group_of(plan, task), tonumber(task.priority or 0)
  local share = add_ready(group, band, -1)
  local member = turn_of(group.name, score, id)
  plan_write(plan, 'ZREM fair_by_group', member)
  plan.removed_turns[member] = true
  share.removed = (share.removed or 0) + 1
  return share
end

-- As `remove_from_fair`, for a task whose turn has come. If it was the last task that had moved up, the tasks
-- behind it must move up next.
local function take_turn(plan, task, score, id)
  local share = remove_from_fair(plan, task, score, id)
  share.needs_move_up = share.needs_move_up or (share.moved_up_to and score % BAND >= share.moved_up_to)
  return share
end

-- The tags and ids of a group's first turns from a tag on, except those that the plan removes; and true if
-- there may be more.
local function turns_from(plan, group, base, tag, most)
  local first, last = '[' .. turn_of(group.name, base + tag, ''), '(' .. turn_of(group.name, base + BAND, '')
  local turns = {}
  local found = redis.call('ZRANGE', plan.keys.fair_by_group, first, last, 'BYLEX', 'LIMIT', '0', int(most))
  for _, member in ipairs(found) do
    local score, id = string.match(member, ' (%d+) (%S+)$')
    if score and not plan.removed_turns[member] then
      turns[#turns + 1] = { tag = tonumber(score) - base, id = id }
    end
  end
  return turns, #found == most
end

-- Moves up the tasks behind those that left early, or behind those that moved up last. `moved_up_to` is the
-- tag up to which all have moved. Up to that tag, a task moves by the cost of those that left before it.
-- Beyond it, each task follows the one before it by its cost.
local function move_up(plan, group, band, share)
  local base, cost, holes = score_at(band, 0), cost_of(group), share.left_early or {}
  local turns, more, passed = {}, false, 0
  table.sort(holes)
  -- Tasks far behind virtual time, as after a failover, must not get turns that have passed.
  local before = holes[1] and holes[1] - cost or math.max(share.moved_up_to, (plan.times[band] or 0) - cost)
  if share.ready > 0 then
    turns, more = turns_from(plan, group, base, holes[1] or before, plan.move_up_limit + share.removed)
  end
  for _, place in ipairs(turns) do
    while holes[passed + 1] and holes[passed + 1] <= place.tag do
      passed = passed + 1
    end
    local tag = before + cost
    if not share.moved_up_to or place.tag <= share.moved_up_to then
      tag = math.max(tag, place.tag - passed * cost)
    end
    if tag < place.tag then
      plan_write(plan, 'ZADD fair XX', int(base + tag), place.id)
      plan_write(plan, 'ZADD fair_by_group', '0', turn_of(group.name, base + tag, place.id))
      plan_write(plan, 'ZREM fair_by_group', turn_of(group.name, base + place.tag, place.id))
    end
    before = math.min(tag, place.tag)
  end
  share.moved_up_to, share.left_early, share.needs_move_up, share.removed =
    more and before or nil, nil, nil, nil
  if not more then
    share.last_tag = math.max(0, before)
  end
end

-- Moves up the tasks of all groups that need it, at most about 2,000 in all, so that no call takes long. Must
-- be called after tasks have left `fair` and before others enter it.
local function move_up_all(plan)
  local lines = {}
  -- In any order: the shares are independent, and have the same limit.
  for _, group in pairs(plan.groups) do
    for band = 0, 9 do
      local share = group.bands and group.bands[band]
      if share and (share.left_early or share.needs_move_up) then
        lines[#lines + 1] = { group, band, share }
      end
    end
  end
  plan.move_up_limit = math.min(plan.move_up_limit, math.ceil(2000 / #lines))
  for _, line in ipairs(lines) do
    move_up(plan, unpack(line))
  end
end
