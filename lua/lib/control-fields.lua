-- control-fields: how the deep sweep repairs the control fields of the whole queue.

-- Pairs of counters: how many were added, and how many removed. Neither ever decreases.
local PAIRS = { '~ghosts', '~dropped', '~timers', '~elapsed', '~broken', '~checked' }

-- The control fields that are numbers.
local NUMBERS = { '~lease', '~groups', '~alarm', unpack(PAIRS) }

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
    local readable = value and #value <= 15 and string.find(value, '^%-?%d+$')
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
