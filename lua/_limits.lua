-- _limits: what the settings of a queue, or of a group, allow at the moment.

-- The settings in a record of theirs, by letter; none where there is none.
local function parse_settings(text)
  local settings = {}
  for letter, value in string.gmatch(text or '', ';(%a)=([^;]*)') do
    settings[letter] = value
  end
  return settings
end

-- Counts dequeues against a rate, `<most>/<period in ms>`. `used` says how many there were in which tenth of
-- the period: `<tenth>:<count>,…`. A tenth counts until it has wholly passed, so no period sees too many.
-- Returns how many more may follow, when the oldest ones pass out, and `used` with `spent` more of now.
local function recent(rate, used, now, spent)
  local most, period = string.match(rate, '^(%d+)/(%d+)$')
  local tenth = math.ceil(period / 10)
  local current, oldest = math.floor(now / tenth), math.floor((now - period) / tenth)
  local kept, sum, first = {}, spent, nil
  for number, count in string.gmatch(used, '(%d+):(%d+)') do
    if tonumber(number) == current then
      spent = spent + count
    elseif tonumber(number) >= oldest then
      kept[#kept + 1] = number .. ':' .. count
      first = first or tonumber(number)
    end
    sum = sum + (tonumber(number) >= oldest and count or 0)
  end
  if spent > 0 then
    kept[#kept + 1] = int(current) .. ':' .. int(spent)
    first = first or current
  end
  return most - sum, first and (first + 1) * tenth + period, table.concat(kept, ',')
end

-- What a queue's limits leave of a wish for `most` tasks, and when more may be had.
local function allowed(settings, most, working, used, now)
  local again
  if settings.m then
    -- Nobody knows when a holder settles: a second is as good as any.
    most, again = math.min(most, settings.m - working), now + 1000
  end
  if settings.r then
    local left, opens = recent(settings.r, used, now, 0)
    most, again = math.min(most, left), left < most and opens or again
  end
  return most, again
end

-- True where so many tasks more are more than a queue may have pending.
local function overfull(settings, at, coming)
  if not settings or not settings.b or coming == 0 then
    return false
  end
  local zsets = redis.call('ZCARD', at.fair) + redis.call('ZCARD', at.held)
  return redis.call('LLEN', at.pending) + zsets + coming > tonumber(settings.b)
end
