-- control-fields: how the deep sweep mends the control fields of the queue as a whole.

-- In pairs: what came, and what has gone. Neither ever goes down.
local PAIRS = { '~ghosts', '~dropped', '~timers', '~rung', '~broken', '~mended' }

-- Those that are numbers.
local NUMBERS = { '~lease', '~groups', '~alarm', unpack(PAIRS) }

-- All that `mend_control` looks at.
local CONTROL_NAMES = { '~set', '~fair', unpack(NUMBERS) }

-- Repairs control fields. found: their values, by name. is: how many members `fair` and `limited` have;
-- `first`: when the first worker is silent, and `timer`: when the timer for it is due, ms; nil for never.
local function mend_control(mending, found, is)
  local plan, now = mending.plan, mending.now
  -- An unreadable number stops every call that uses it. Counters that numbers are given out from go on far
  -- beyond any number that can have been given.
  local beyond =
    { ['~lease'] = now, ['~groups'] = SPARE_GROUPS, ['~broken'] = tonumber(found['~mended'] or 0) }
  local limits = { ['~groups'] = MOST_GROUPS }
  for _, name in ipairs(NUMBERS) do
    local value = found[name]
    local readable = value and #value <= 15 and string.find(value, '^%-?%d+$')
    if value and not (readable and tonumber(value) < (limits[name] or LAST)) then
      note(mending, 'control_broken', name)
      found[name] = beyond[name] and int(beyond[name])
      put(mending, name, value, found[name])
    end
  end
  if tonumber(found['~mended'] or 0) > tonumber(found['~broken'] or 0) then
    note(mending, 'control_broken', '~mended')
    put(mending, '~mended', found['~mended'], found['~broken'])
    found['~mended'] = found['~broken']
  end
  if found['~set'] then
    mend_settings(mending, '~set', found['~set'], 0)
  end

  -- Without `~fair` no dequeue looks into `fair`. A virtual time that is missing or too large becomes that of
  -- the next task.
  local times = parse_clock(found['~fair'])
  local lost = not found['~fair'] and is.fair > 0
  for band = 0, 9 do
    if lost or (times[band] or 0) >= LATEST_TAG then
      local least, before = score_at(band, 0), score_at(band, LATEST_TAG)
      local range = { int(least), '(' .. int(before) }
      local next_in_line =
        redis.call('ZRANGE', mending.at.fair, range[1], range[2], 'BYSCORE', 'LIMIT', '0', '1', 'WITHSCORES')
      times[band], lost = math.max(0, tonumber(next_in_line[2] or least) - least - SHARE), true
    end
  end
  if (times.list_tag or 0) >= LATEST_TAG then
    times.list_tag, lost = nil, true
  end
  if lost or times.limited ~= is.limited then
    times.limited = is.limited
    will(plan, 'HSET tasks', '~fair', format_clock(times))
    note(mending, 'control_broken', '~fair')
  end

  -- The timer must be due when the next worker is silent.
  local timer, alarm = is.timer, tonumber(found['~alarm'])
  local first = is.first and math.max(0, math.min(is.first, now + LONGEST))
  local late = first and (not timer or timer > math.max(first, now) or not alarm or alarm > first)
  if late or (timer and not alarm) then
    local when = first or math.floor(timer)
    will(plan, 'timers', int(when), '~w')
    will(plan, 'HSET tasks', '~alarm', int(when))
    note(mending, 'timer_wrong', '~alarm')
  elseif alarm and not timer then
    put(mending, '~alarm', alarm)
    note(mending, 'timer_wrong', '~alarm')
  end
end
