-- _groups: the shares of a queue's groups, by weighted fair queueing. Each task of a group or with a priority
-- has a tag, the virtual time at which its group's share pays for it; the zset `fair` is in their order,
-- priority by priority. A group at a limit keeps what is too much in the zset `held`, so that it is in
-- nobody's way.

-- The virtual time that one delivery costs a group of weight 1: exact for weights 1 to 10.
local SHARE = 25200

-- Room for the tags of one priority in a score: 22 thousand million deliveries until the zset runs dry.
local BAND = 562949953421312

-- Room in the scores of `held` for one group, and in that for one priority.
local HELD_GROUP = 68719476736

local HELD_BAND = 4294967296

-- In the room of one priority, where those stand that were never in `fair`.
local HELD_LATER = 2147483648

-- True for a task that stands in `fair` or `held`, not in the list, when it waits.
local function shared(task)
  return task.G or task.P
end

local function parse_group(name, state, settings)
  local group = { name = name, w = 0, h = 0, p = 0, q = 0, u = '', ready = 0, fresh = 0, bands = {} }
  for field, value in string.gmatch(state or '', ';(%w)=([^;]*)') do
    local last, ready = string.match(value, '^(%d+),(%d+)$')
    if last and tonumber(field) then
      group.bands[tonumber(field)] = { last = tonumber(last), ready = tonumber(ready) }
      group.ready = group.ready + ready
    else
      group[field] = field == 'u' and value or tonumber(value) or 0
    end
  end
  group.settings = parse_settings(settings)
  if not group.settings.n then
    -- Without a number nothing can be held, whatever a broken state or setting says.
    group.h, group.settings.m, group.settings.r = 0, nil, nil
  end
  return group
end

-- Empty for a group of which nothing is to be kept.
local function format_group(group)
  local text = ''
  for _, field in ipairs({ 'w', 'h', 'p', 'q', 'u' }) do
    local value = group[field]
    if value ~= '' and value ~= 0 and (group.h > 0 or (field ~= 'p' and field ~= 'q')) then
      text = text .. ';' .. field .. '=' .. (field == 'u' and value or int(value))
    end
  end
  for band = 0, 9 do
    local share = group.bands[band]
    if share and share.ready > 0 then
      text = text .. ';' .. int(band) .. '=' .. int(share.last) .. ',' .. int(share.ready)
    end
  end
  return text ~= '' and '1' .. text or ''
end

-- Virtual times by priority, `l`: the tag of the list's next task, `h`: how many are held.
local function parse_clock(text)
  local times = { h = 0 }
  for field, value in string.gmatch(text or '', ';(%w)=(%d+)') do
    times[tonumber(field) or field] = tonumber(value)
  end
  return times
end

local function format_clock(times)
  local text = '1'
  for _, field in ipairs({ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 'l', 'h' }) do
    if times[field] and times[field] > 0 then
      text = text
        .. ';'
        .. (field == 'l' and field or field == 'h' and field or int(field))
        .. '='
        .. int(times[field])
    end
  end
  return text
end

-- Reads the groups of tasks that a plan does not know yet; costs nothing where no task has any.
local function open_groups(plan, tasks)
  local names, fields = {}, {}
  for _, task in ipairs(tasks) do
    local name = shared(task) and (task.G or '')
    if name and not plan.groups[name] then
      plan.groups[name] = {}
      names[#names + 1] = name
      append(fields, '~g:' .. name, '~s:' .. name)
    end
  end
  if #names == 0 then
    return
  end
  plan.opened = plan.opened + #names
  if not plan.times then
    fields[#fields + 1] = '~fair'
  end
  local found = read('HMGET', plan.at.tasks, fields)
  plan.times = plan.times or parse_clock(found[#fields])
  for i, field in ipairs(fields) do
    plan.was[field] = found[i]
  end
  for i, name in ipairs(names) do
    plan.groups[name] = parse_group(name, found[2 * i - 1], found[2 * i])
  end
end

-- The group of a task, about to be changed.
local function group_of(plan, task)
  local group = plan.groups[task.G or '']
  group.changed = true
  return group
end

-- How many more tasks of a group may be ready or working.
local function room(group, now)
  local free = math.huge
  if group.settings.m then
    free = group.settings.m - group.w
  end
  if group.settings.r then
    free = math.min(free, (recent(group.settings.r, group.u, now, 0)))
  end
  return free - group.ready
end

-- How many of a group are ready with a lower priority: a higher one goes before them, and the limit holds at
-- delivery.
local function ready_below(group, band)
  local count = 0
  for lower, share in pairs(group.bands) do
    count = count + (lower < band and share.ready or 0)
  end
  return count
end

-- Notes one ready task more, or fewer, of a group.
local function ready(group, band, amount)
  local share = group.bands[band] or { last = 0, ready = 0 }
  group.bands[band] = share
  share.ready = share.ready + amount
  group.ready = group.ready + amount
  return share
end

local function cost_of(group)
  return math.floor(SHARE / (group.settings.k or 1))
end

-- Lets a task in with a new tag.
local function admit(plan, group, band, id)
  local share = ready(group, band, 1)
  share.last = math.max(plan.times[band] or 0, share.last) + cost_of(group)
  append(plan.fair, int((9 - band) * BAND + share.last), id)
end

-- Gives a ready task its place: the list, `fair` or `held`.
-- place: 'back', 'front'; 'kept' for one handed back, which in `fair` gets its old tag; or 'aside' for one
-- taken out of `fair` at its group's limit, which stands before all that came to be held later.
local function enter(plan, id, task, place)
  if not shared(task) then
    local ids = place == 'back' and plan.back or plan.front
    ids[#ids + 1] = id
    return
  end
  local group, band = group_of(plan, task), tonumber(task.P or 0)
  local full = group.h > 0 or room(group, plan.now) < 1
  -- A tag that was delivered lies behind, unless virtual time began anew since.
  if place == 'kept' and task.S and task.S % BAND <= (plan.times[band] or 0) then
    local share = ready(group, band, 1)
    share.last = math.max(share.last, task.S % BAND)
    append(plan.fair, task.S, id)
  elseif place == 'aside' or (full and ready_below(group, band) == 0) then
    local zone = place == 'aside' and 'p' or 'q'
    group[zone], group.h, group.fresh = group[zone] + 1, group.h + 1, group.fresh + 1
    plan.times.h = plan.times.h + 1
    local number = group[zone] + (zone == 'q' and HELD_LATER or 0)
    append(plan.held, int(group.settings.n * HELD_GROUP + (9 - band) * HELD_BAND + number), id)
  else
    admit(plan, group, band, id)
  end
  task.S = nil
end

-- Lets held tasks in as far as there is room, a hundred of a group at most. Those that this very plan holds
-- are not in the zset yet.
local function release(plan)
  for _, group in pairs(plan.groups) do
    local free = group.changed and math.min(group.h - group.fresh, room(group, plan.now), 100) or 0
    if free >= 1 then
      local lowest = group.settings.n * HELD_GROUP
      local highest = '(' .. int(lowest + HELD_GROUP)
      local least, most = int(lowest), int(free)
      local ids =
        redis.call('ZRANGE', plan.at.held, least, highest, 'BYSCORE', 'LIMIT', '0', most, 'WITHSCORES')
      for i = 1, #ids, 2 do
        admit(plan, group, 9 - math.floor((ids[i + 1] - lowest) / HELD_BAND), ids[i])
        plan.freed[#plan.freed + 1] = ids[i]
      end
      local left = #ids / 2 < free and group.fresh or group.h - #ids / 2
      plan.times.h, group.h = plan.times.h - group.h + left, left
    end
  end
end

-- Sets a timer in `delayed` that releases again, where time alone makes room for what a group holds, or
-- some are left.
local function set_timer(plan, group)
  local limited = group.settings.m and group.w + group.ready >= tonumber(group.settings.m)
  local left, opens = recent(group.settings.r or '1/1', group.u, plan.now, 0)
  if group.h > 0 and not limited then
    local when = (not group.settings.r or left > group.ready) and plan.now or opens
    append(plan.timers, when and int(when), when and '~g:' .. group.name)
  end
end

-- Takes a waiting task out of its group's account: it refunds what the task would have cost.
-- place: the key of the zset in which it stands.
local function refund(plan, task, place)
  local group = group_of(plan, task)
  if place == plan.at.fair then
    local share = ready(group, tonumber(task.P or 0), -1)
    share.last = math.max(0, share.last - cost_of(group))
  else
    group.h, plan.times.h = group.h - 1, plan.times.h - 1
  end
end

-- As `refund`, wherever the task waits. Returns where that is, and with which score.
local function take_out(plan, id, task)
  local at, place = plan.at, plan.at.fair
  local score = redis.call('ZSCORE', place, id)
  if not score then
    place = at.held
    score = redis.call('ZSCORE', place, id)
  end
  if score then
    refund(plan, task, place)
  end
  return place, score
end

-- How many tasks one call takes where groups are in use: no command then has more than SLICE arguments.
local SHARED = 200

-- After how many groups such a call looks no further.
local GROUPS = 90

-- Takes in the field `~fair`, which is there where groups or priorities are in use.
local function share_out(plan, text)
  plan.times, plan.shared = parse_clock(text), true
  return plan.times
end

-- Notes the delivery of a task: virtual time moves on to its tag.
local function serve(plan, task, place)
  local band, tag = 9 - math.floor(place.score / BAND), place.score % BAND
  plan.times[band] = math.max(plan.times[band] or 0, tag)
  if shared(task) then
    local group = group_of(plan, task)
    if not place.listed then
      ready(group, band, -1)
      task.S = place.score
    end
    group.w = group.w + 1
    if group.settings.r then
      local _, _, used = recent(group.settings.r, group.u, plan.now, 1)
      group.u = used
    end
  end
end

-- What a plan leaves of the groups that it changed: fields to write, and fields to remove.
local function close_groups(plan)
  for _, group in pairs(plan.groups) do
    if group.changed then
      set_timer(plan, group)
      group.fresh = 0
      local text = format_group(group)
      if text == '' then
        plan.gone[#plan.gone + 1] = '~g:' .. group.name
      else
        append(plan.fields, '~g:' .. group.name, text)
      end
      local set = group.settings
      if group.h == 0 and next(set) == 'n' and not next(set, 'n') then
        -- The limit is no more, and what it held has gone on.
        plan.gone[#plan.gone + 1] = '~s:' .. group.name
      end
      group.changed = nil
      plan.shared = true
    end
  end
  if plan.shared and plan.dry and plan.times.h == 0 and #plan.fair == 0 then
    plan.gone[#plan.gone + 1] = '~fair'
  elseif plan.shared then
    append(plan.fields, '~fair', format_clock(plan.times))
  end
end
