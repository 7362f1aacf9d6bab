-- wake: whether a consumer works on the queue, or is on its way. Where none is ever woken it costs nothing.

-- The field `~wake`: when the last wake was sent; until when somebody counts as awake; the window, ms.
local function parse_wake(text)
  local sent, awake, window = string.match(text or '', '^(%d+) (%d+) (%d+)$')
  return tonumber(sent or 0), tonumber(awake or 0), tonumber(window or 0)
end

-- True where nobody is awake, as far as is known. patience: how long (ms) to wait for one of whom nothing was
-- heard since the wake; none: the whole window.
local function nobody_awake(text, now, patience)
  local sent, awake, window = parse_wake(text)
  -- Nobody was heard of later than now: a clock that jumped back must not keep anyone awake.
  local over = now >= awake or now < awake - window
  return over or (patience and awake == sent + window and now >= sent + patience)
end

-- What stands in the field once a wake was sent; or, with its text, once a consumer took tasks: it
-- comes again, or else nobody is awake when the window is over.
local function awake_text(now, window, text)
  local sent, _, given = parse_wake(text)
  window = tonumber(window or given)
  return int(text and sent or now) .. ' ' .. int(now + window) .. ' ' .. int(window)
end
