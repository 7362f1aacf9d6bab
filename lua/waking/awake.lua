-- awake: whether a consumer counts as awake, or is to be woken.

-- Parses the field `~wake`: when the last wake was sent; until when a consumer counts as awake (0: none); the
-- window (ms); when a consumer that looks only at times has last looked for what is due (0: not known).
local function parse_wake(text)
  local sent, awake, window, looked = string.match(text or '', '^(%d+) (%d+) (%d+) ?(%d*)$')
  return tonumber(sent or 0), tonumber(awake or 0), tonumber(window or 0), tonumber(looked or 0) or 0
end

local function format_wake(sent, awake, window, looked)
  local text = int(sent) .. ' ' .. int(awake) .. ' ' .. int(window)
  return looked > 0 and text .. ' ' .. int(looked) or text
end

-- True if no consumer counts as awake.
-- patience: how long (ms) to wait for a consumer that was woken and has taken no tasks; nil: the whole
-- window.
local function nobody_awake(text, now, patience)
  local sent, awake, window = parse_wake(text)
  -- After the clock has jumped back, a time too far ahead must not count as awake.
  local over = now >= awake or now < awake - window
  return over or (patience and awake == sent + window and now >= sent + patience)
end

-- The new value of `~wake` after a wake was sent; or, without a window, after a consumer took tasks. A
-- consumer then counts as awake until the window is over.
-- text: the field so far.
local function awake_text(now, window, text)
  local sent, _, given, looked = parse_wake(text)
  local length = tonumber(window or given)
  return format_wake(window and now or sent, now + length, length, looked)
end

-- The new value of `~wake` after the consumer that was awake has found nothing: the next enqueue must wake
-- another.
local function asleep_text(text)
  local _, _, _, looked = parse_wake(text)
  return looked > 0 and format_wake(0, 0, 0, looked) or ''
end

-- Records a wake in `tasks`, unless a consumer counts as awake or the queue is paused. Returns true if the
-- caller must send it.
-- found: the fields `~wake` and `~set`. patience: as for `nobody_awake`.
local function record_wake(tasks, found, now, window, patience)
  if not nobody_awake(found[1], now, patience) or parse_settings(found[2], now).paused then
    return false
  end
  -- If Redis has no room for this, the wake is not recorded, and each sweep sends another.
  store_fields(tasks, { '~wake', awake_text(now, window, found[1]) })
  return true
end

-- Records in the plan that the caller wakes a consumer. Returns true if it must.
-- found: the fields `~wake` and `~set`.
local function plan_wake(call, found, window)
  local plan = call.plan
  -- If an earlier copy made the tasks and recorded a wake, its reply, and with it the wake, may be lost. So
  -- this copy asks for a wake again.
  local patience = call.any_resent and 0 or nil
  if not nobody_awake(found[1], plan.now, patience) or parse_settings(found[2], plan.now).paused then
    return false
  end
  local sent = { '~wake', awake_text(plan.now, window, found[1]) }
  if planned_count(plan, 'HSET tasks') == 0 then
    -- The tasks are written already, so a full Redis must not refuse them here. The next sweep wakes a
    -- consumer.
    return not store_fields(plan.keys.tasks, sent)
  end
  plan_write(plan, 'HSET tasks', unpack(sent))
  return true
end
