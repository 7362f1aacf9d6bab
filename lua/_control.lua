-- _control: what the deep sweep does with the control fields that are of the queue as a whole.

-- In pairs: what came, and what has gone. Neither ever goes down.
local PAIRS = { '~ghosts', '~dropped', '~timers', '~rung', '~broken', '~mended' }

-- Those that are numbers.
local NUMBERS = { '~lease', '~groups', '~alarm', unpack(PAIRS) }

-- All that `mend_control` looks at.
local CONTROL_NAMES = { '~set', '~fair', unpack(NUMBERS) }

-- Mends control fields in one look. found: what stands in them, by name. is: how many stand in `fair` and
-- `held`, when the first worker is silent, and when somebody looks for it; nothing for never.
local function mend_control(mending, found, is)
  local plan, now = mending.plan, mending.now
  -- Numbers that cannot be read stop every call that counts with them. Those that are given out go on far
  -- beyond any that can have been.
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

  -- Without `~fair` nobody looks into `fair`. A virtual time that is not there, or beyond all others, is that
  -- of the task that is next.
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
  if (times.l or 0) >= LATEST_TAG then
    times.l, lost = nil, true
  end
  if lost or times.h ~= is.held then
    times.h = is.held
    append(plan.fields, '~fair', format_clock(times))
    note(mending, 'control_broken', '~fair')
  end

  -- Somebody looks in time for the next worker that is silent.
  local timer, alarm = is.timer, tonumber(found['~alarm'])
  local first = is.first and math.max(0, math.min(is.first, now + LONGEST))
  local late = first and (not timer or timer > math.max(first, now) or not alarm or alarm > first)
  if late or (timer and not alarm) then
    local when = first or math.floor(timer)
    append(plan.timers, int(when), '~w')
    append(plan.fields, '~alarm', int(when))
    note(mending, 'timer_wrong', '~alarm')
  elseif alarm and not timer then
    put(mending, '~alarm', alarm)
    note(mending, 'timer_wrong', '~alarm')
  end
end
