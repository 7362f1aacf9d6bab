-- repair-fields: how the deep sweep repairs what is no id: control fields, settings, workers, kept fields,
-- and the states of groups.

-- The patterns of valid settings. Settings that only a later release knows are left alone.
local SETTINGS = {
  paused = '^[1-9]%d*$',
  events = '^1$',
  statistics = '^1$',
  max_working = '^%d+$',
  max_pending = '^%d+$',
  number = '^%d+$',
  weight = '^[1-9]%d*$',
  rate = '^%d+/[1-9]%d*$',
  [TOTALS.max_working] = '^%d+$',
  [TOTALS.max_pending] = '^%d+$',
  [TOTALS.rate] = '^%d+/[1-9]%d*$',
  [SHARES] = '^%d+$',
}

-- The scores of `limited` have a range for each group number below MOST_GROUPS.
-- A number that is chosen without reading all others is above SPARE_GROUPS, so that no group has it.
local MOST_GROUPS = 134217728

local SPARE_GROUPS = 65536

-- The settings in a text; nil if it is unreadable.
local function readable_settings(text)
  local settings, readable = parse_settings(text), string.find(text, '^[12]') ~= nil
  -- In any order: all of them must be readable.
  for name, value in pairs(settings) do
    readable = readable and string.find(value, SETTINGS[name] or '') ~= nil
  end
  return readable and settings or nil
end

-- Repairs settings. Unreadable ones would stop every call that reads them. last: the last number given to a
-- group.
-- Returns that number, as it is now.
local function repair_settings(repair, field, text, last)
  local plan, settings = repair.plan, readable_settings(text)
  if newer_settings(text) then
    return last
  elseif not settings then
    set_aside(repair, field)
    plan_write(plan, 'HDEL tasks', field)
    return last
  end
  local number = tonumber(settings.number)
  local needed = field ~= '~set' and (settings.max_working or settings.rate or settings.paused or number)
  if needed and (number or MOST_GROUPS) >= MOST_GROUPS then
    number = math.max(last, SPARE_GROUPS) + 1
    settings.number = int(number)
    plan_write(plan, 'HSET tasks', field, format_settings(settings))
    report_fault(repair, 'control_broken', field)
  elseif needed and number > last then
    report_fault(repair, 'control_broken', '~groups')
  end
  return needed and math.max(last, number) or last
end

-- Repairs the settings of groups. texts: by field.
local function repair_group_settings(repair, texts)
  if not next(texts) then
    return
  end
  local last = tonumber(fields_in(repair, { '~groups' })[1] or 0) or 0
  local most = last
  for _, field in ipairs(sorted_keys(texts)) do
    most = repair_settings(repair, field, texts[field], most)
  end
  if most > last then
    plan_write(repair.plan, 'HSET tasks', '~groups', int(most))
  end
end

-- Removes records of workers that are not registered.
local function repair_worker_records(repair, names)
  for i, score in ipairs(scores_in(repair, 'workers', names)) do
    if not score then
      plan_write(repair.plan, 'HDEL tasks', '~w:' .. names[i])
      report_fault(repair, 'worker_wrong', names[i])
    end
  end
end

-- Adds to `expiry` the fields that are kept for a time and are missing there.
local function repair_kept(repair, names, texts)
  for i, score in ipairs(scores_in(repair, 'expiry', names)) do
    if not score then
      local until_at = string.match(texts[i], '^(%d+) ') or int(repair.now + LOST_FOR)
      plan_write(repair.plan, 'ZADD expiry', until_at, names[i])
      report_fault(repair, 'expiry_missing', names[i])
    end
  end
end

-- Removes from `expiry` the fields that do not exist.
local function repair_times(repair, names)
  for i, text in ipairs(fields_in(repair, names)) do
    -- A node of a flow is in the outbox without a field.
    if not text and string.sub(names[i], 1, 3) ~= '~x:' then
      remove_from(repair, 'expiry', names[i])
      report_fault(repair, 'record_missing', names[i])
    end
  end
end

-- Removes members of `fair-by-group` that are no turn in `fair`.
local function repair_turns(repair, members)
  local ids = {}
  for i, member in ipairs(members) do
    ids[i] = string.match(member, '%S*$')
  end
  for i, entry in ipairs(find_entries(repair, ids)) do
    local task = parse_with(has_payload(entry.fixed) and entry.fixed or '', entry.record)
    local own = entry.fair and turn_of(task.group or '', entry.fair, ids[i])
    if not entry.newer and own ~= members[i] then
      remove_from(repair, 'fair_by_group', members[i])
      report_fault(repair, 'turn_wrong', ids[i])
    end
  end
end

-- Removes members of `worker-leases` whose lease has ended, or belongs to another worker.
local function repair_leases(repair, members)
  local ids, names = {}, {}
  for i, member in ipairs(members) do
    ids[i] = string.match(member, '%S*$')
    names[i] = '.' .. ids[i]
  end
  for i, record in ipairs(fields_in(repair, names)) do
    local task = parse(record)
    local holds = task.state == STATE.working
      and task.worker
      and worker_lease(task.worker, task.lease_number, ids[i]) == members[i]
    if not (holds or newer(record)) then
      remove_from(repair, 'worker_leases', members[i])
      report_fault(repair, 'worker_lease_wrong', ids[i])
    end
  end
end

-- Removes workers without a record and without leases. That is not a fault: a worker that is being failed has
-- neither after its last lease. A worker that would be silent at an impossible time is silent now.
local function repair_workers(repair, workers)
  local keys, names = repair.keys, {}
  for i, worker in ipairs(workers) do
    names[i] = '~w:' .. worker
  end
  local silent = scores_in(repair, 'workers', workers)
  for i, info in ipairs(fields_in(repair, names)) do
    local worker, score = workers[i], tonumber(finite(silent[i]))
    if not info and #leases_of(keys, worker, '0', 1) == 0 then
      remove_from(repair, 'workers', worker)
    elseif score < 0 or score > repair.now + LONGEST then
      plan_write(repair.plan, 'ZADD workers', int(repair.now), worker)
      report_fault(repair, 'time_broken', worker)
    end
  end
end

-- Sorts fields of `tasks` and their texts by kind, and repairs those that are no records of tasks.
-- Returns ids, and names and states of groups.
local function repair_fields(repair, found)
  local ids, seen, groups = {}, {}, {}
  local settings, infos, kept, texts = {}, {}, {}, {}
  for i = 1, #found, 2 do
    local field, text = found[i], found[i + 1]
    repair.bytes = repair.bytes + #text
    local kind = string.match(field, '^~%a:')
    if kind == '~g:' then
      append(groups, string.sub(field, 4), text)
    elseif kind == '~s:' then
      settings[field] = text
    elseif kind == '~w:' then
      infos[#infos + 1] = string.sub(field, 4)
    elseif string.find(kind or '', '[dfbDTSI]') then
      kept[#kept + 1], texts[#texts + 1] = field, text
    elseif string.sub(field, 1, 1) ~= '~' then
      local id = string.gsub(field, '^%.', '')
      append(ids, not seen[id] and id or nil)
      seen[id] = true
    end
  end
  repair_group_settings(repair, settings)
  repair_worker_records(repair, infos)
  repair_kept(repair, kept, texts)
  return ids, groups
end

-- Pairs of counters: how many were added, and how many removed. Neither ever decreases.
local PAIRS = { '~ghosts', '~dropped', '~timers', '~elapsed', '~broken', '~checked' }

-- The control fields that are numbers.
local NUMBERS = { '~lease', '~groups', '~alarm', '~nodes', unpack(PAIRS) }

-- All control fields that `repair_control` reads.
local CONTROL_NAMES = { '~set', '~fair', unpack(NUMBERS) }

-- Repairs control fields. found: their values, by name.
-- observed: `fair` and `limited`, how many members these zsets have; `first`, when the first worker will be
-- silent, and `timer`, when the timer for silent workers is due (ms; nil: never).
local function repair_control(repair, found, observed)
  local plan, now = repair.plan, repair.now
  -- An unreadable number stops every call that uses it. A counter that gives out numbers continues far above
  -- any number that it can have given.
  local spare =
    { ['~lease'] = now, ['~groups'] = SPARE_GROUPS, ['~broken'] = tonumber(found['~checked'] or 0) }
  local limits = { ['~groups'] = MOST_GROUPS }
  for _, name in ipairs(NUMBERS) do
    local value = found[name]
    -- A lease number is part of a receipt, which has no sign.
    local pattern = name == '~lease' and '^%d+$' or '^%-?%d+$'
    local readable = value and #value <= 15 and string.find(value, pattern)
    if value and not (readable and tonumber(value) < (limits[name] or LAST)) then
      report_fault(repair, 'control_broken', name)
      found[name] = spare[name] and int(spare[name])
      put_field(repair, name, value, found[name])
    end
  end
  if tonumber(found['~checked'] or 0) > tonumber(found['~broken'] or 0) then
    report_fault(repair, 'control_broken', '~checked')
    put_field(repair, '~checked', found['~checked'], found['~broken'])
    found['~checked'] = found['~broken']
  end
  if found['~set'] then
    repair_settings(repair, '~set', found['~set'], 0)
  end

  -- Without `~fair` no dequeue reads `fair`. A missing or too large virtual time is set to one SHARE below
  -- the tag of the next task, or to 0.
  local times = parse_clock(found['~fair'])
  local lost = not found['~fair'] and observed.fair > 0
  for band = 0, 9 do
    if lost or (times[band] or 0) >= LATEST_TAG then
      local least, before = score_at(band, 0), score_at(band, LATEST_TAG)
      local range = { int(least), '(' .. int(before) }
      local next_in_line =
        redis.call('ZRANGE', repair.keys.fair, range[1], range[2], 'BYSCORE', 'LIMIT', '0', '1', 'WITHSCORES')
      times[band], lost = math.max(0, tonumber(next_in_line[2] or least) - least - SHARE), true
    end
  end
  if (times.list_tag or 0) >= LATEST_TAG then
    times.list_tag, lost = nil, true
  end
  if lost or times.limited ~= observed.limited then
    times.limited = observed.limited
    plan_write(plan, 'HSET tasks', '~fair', format_clock(times))
    report_fault(repair, 'control_broken', '~fair')
  end

  -- The timer must be due when the next worker is silent.
  local timer, alarm = observed.timer, tonumber(found['~alarm'])
  local first_silent = observed.first and math.max(0, math.min(observed.first, now + LONGEST))
  local timer_late = first_silent
    and (not timer or timer > math.max(first_silent, now) or not alarm or alarm > first_silent)
  if timer_late or (timer and not alarm) then
    local when = first_silent or math.floor(timer)
    plan_write(plan, 'timers', int(when), '~w')
    plan_write(plan, 'HSET tasks', '~alarm', int(when))
    report_fault(repair, 'timer_wrong', '~alarm')
  elseif alarm and not timer then
    put_field(repair, '~alarm', alarm)
    report_fault(repair, 'timer_wrong', '~alarm')
  end
end

-- Counts a task in `fair`. group: the state that the count builds up.
local function count_ready(group, score)
  local band, tag = read_score(score)
  local share = add_ready(group, band, 1)
  share.last_tag = math.max(share.last_tag, tag % LATEST_TAG)
end

-- Counts a working task.
local function count_working(group)
  group.working = group.working + 1
end

-- Corrects a group's state. Returns true if it was wrong or badly formatted. actual: the state as counted;
-- text: the state in `tasks`.
local function correct_group(group, actual, text)
  -- `open_groups` has changed it already if it has a rate and the clock has jumped back.
  local wrong = group.working ~= actual.working
    or group.limited ~= actual.limited
    or (not group.changed and format_group(group) ~= text)
  if actual.limited > 0 and group.last_back_place == 0 then
    -- Further tasks then get places behind all that are in `limited`.
    group.last_back_place = LIMITED_LATER / 2
  end
  group.working, group.limited, group.ready = actual.working, actual.limited, actual.ready
  for band = 0, 9 do
    local share = group.bands[band] or { last_tag = 0, ready = 0 }
    local real = actual.bands[band] or { last_tag = 0, ready = 0 }
    wrong = wrong or share.ready ~= real.ready or share.last_tag >= LATEST_TAG
    if real.ready > 0 then
      local last = share.last_tag < LATEST_TAG and share.last_tag or 0
      group.bands[band] =
        { last_tag = math.max(last, real.last_tag), ready = real.ready, moved_up_to = share.moved_up_to }
    else
      group.bands[band] = nil
    end
  end
  return wrong
end

-- True if a group needs a timer and has none. While a task of it is ready, that task's delivery sets it.
local function lacks_timer(repair, group)
  if group.ready > 0 then
    return false
  end
  local plan = repair.plan
  set_timer(plan, group)
  local needed = planned_count(plan, 'timers') > 0
  plan.writes.timers = nil
  return needed and not scores_in(repair, 'delayed', { '~g:' .. group.name })[1]
end
