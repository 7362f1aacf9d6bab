-- repair-fields: how the deep sweep repairs fields and members that are no ids: settings, workers, kept
-- fields.

-- The patterns of valid settings. Settings that only a later release knows are left alone.
local SETTINGS = {
  paused = '^1$',
  events = '^1$',
  statistics = '^1$',
  max_working = '^%d+$',
  max_pending = '^%d+$',
  number = '^%d+$',
  weight = '^[1-9]%d*$',
  rate = '^%d+/[1-9]%d*$',
  total_working = '^%d+$',
  total_pending = '^%d+$',
  total_rate = '^%d+/[1-9]%d*$',
  shares = '^%d+$',
}

-- The scores of `limited` have a range for each group number below MOST_GROUPS.
-- A number that is chosen without reading all others is above SPARE_GROUPS, so that no group has it.
local MOST_GROUPS = 131071

local SPARE_GROUPS = 65536

-- Repairs settings. Unreadable ones would stop every call that reads them. last: the last number given to a
-- group.
-- Returns that number, as it is now.
local function repair_settings(repair, field, text, last)
  local plan, settings, readable = repair.plan, parse_settings(text), string.find(text, '^1') ~= nil
  if newer(text) then
    return last
  end
  -- In any order: all of them must be readable.
  for name, value in pairs(settings) do
    readable = readable and string.find(value, SETTINGS[name] or '') ~= nil
  end
  if not readable then
    set_aside(repair, field)
    plan_write(plan, 'HDEL tasks', field)
    return last
  end
  local number = tonumber(settings.number)
  local needed = field ~= '~set' and (settings.max_working or settings.rate or number)
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
    if not text then
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
    elseif kind == '~d:' or kind == '~f:' or kind == '~b:' then
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
