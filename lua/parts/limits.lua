-- limits: the settings of a queue or a group, and how many more tasks they allow.

-- Parses letters, `;<letter>=<value>…`, behind a version or without one. Returns the values by the letters'
-- names. A letter that `names` lacks is its own name.
local function parse_named(text, names)
  local values = {}
  for letter, value in string.gmatch(text or '', ';(%a)=([^;]*)') do
    values[names[letter] or letter] = value
  end
  return values
end

-- The reverse of `parse_named`; empty without a value.
local function format_named(values, names)
  local letters, by_letter, text = {}, {}, ''
  -- In any order: each name has one letter.
  for letter, name in pairs(names) do
    letters[name] = letter
  end
  -- In any order: they are sorted below.
  for name, value in pairs(values) do
    by_letter[letters[name] or name] = value
  end
  for _, letter in ipairs(sorted_keys(by_letter)) do
    text = text .. ';' .. letter .. '=' .. by_letter[letter]
  end
  return text ~= '' and '1' .. text or ''
end

-- The letters of settings. Others, such as those of a later release, keep their letters as names.
local SETTING_NAMES = {
  p = 'paused',
  m = 'max_working',
  r = 'rate',
  b = 'max_pending',
  e = 'events',
  s = 'statistics',
  k = 'weight',
  n = 'number',
}

-- Of a queue with partitions: the letter of the version of the shares.
local SHARES = 'v'

-- The limits that each partition has a share of, with the letter of the limit of the whole queue.
local TOTALS = { max_working = 'M', rate = 'R', max_pending = 'B' }

-- The settings of a queue or a group, by name; none without a record. `paused` is '1', or when the pause ends
-- (ms). Given the time, they are without a pause that is over.
local function parse_settings(text, now)
  local settings = parse_named(text, SETTING_NAMES)
  local ends = tonumber(settings.paused)
  if now and ends and ends <= now and ends > 1 then
    settings.paused = nil
  end
  return settings
end

-- True for settings of a later release. Those of version 2 say that groups may have a strict order.
local function newer_settings(text)
  return newer(text) and string.sub(text, 1, 2) ~= '2;'
end

local function format_settings(settings)
  local text = format_named(settings, SETTING_NAMES)
  return settings.o and '2' .. string.sub(text, 2) or text
end

-- A record of settings without a pause that is over; '' for none. time: called only if they have a pause that
-- ends; gives a number.
local function current_settings(text, time)
  local settings = parse_settings(text)
  return (tonumber(settings.paused) or 0) > 1 and format_settings(parse_settings(text, time())) or text or ''
end

-- The most dequeues of a rate, its period, and a tenth of the period (ms).
local function parse_rate(rate)
  local most, period = string.match(rate, '^(%d+)/(%d+)$')
  return tonumber(most), tonumber(period), math.ceil(period / 10)
end

-- Counts dequeues against a rate, `<most>/<period in ms>`. `used` has the count of each tenth of the period:
-- `<tenth>:<count>,…`. A tenth counts until all of it is over a period ago, so no period has too many.
-- Returns how many more are allowed; when the next one is; `used` with `spent` more dequeues now; and true if
-- the clock has jumped back by over a period. Then `used` must be written, or its counts would never expire.
local function measure_rate(rate, used, now, spent)
  local most, period, tenth = parse_rate(rate)
  local current, oldest = math.floor(now / tenth), math.floor((now - period) / tenth)
  local tenths, counts, left, jumped = {}, {}, most, false -- counts: by a tenth, as text
  for number, count in string.gmatch(used .. ',' .. int(current) .. ':' .. int(spent), '(%d+):(%d+)') do
    local when, some = tonumber(number), tonumber(count)
    -- After the clock has jumped back, a tenth more than a period ahead counts as the current one.
    if when > current + 10 then
      when, jumped = current, true
    end
    if when >= oldest and some > 0 then
      local place = int(when)
      append(tenths, not counts[place] and when or nil)
      counts[place] = (counts[place] or 0) + some
      left = left - some
    end
  end
  table.sort(tenths)
  local next_allowed_at, free, kept = nil, left, {}
  for i, when in ipairs(tenths) do
    local place = int(when)
    if i == 1 or free < 1 then
      next_allowed_at, free = (when + 1) * tenth + period, free + counts[place]
    end
    kept[i] = place .. ':' .. int(counts[place])
  end
  return left, next_allowed_at, table.concat(kept, ','), jumped
end

-- Converts `used` from tenths of one rate's period to those of another. No count expires too early.
local function convert_counts(used, from, to, now)
  local _, _, old = parse_rate(from)
  local _, _, new = parse_rate(to)
  local text = string.gsub(used, '(%d+):', function(number)
    return int(math.floor(math.min((number + 1) * old - 1, now) / new)) .. ':'
  end)
  return text
end

-- While a limit of working tasks is reached, a consumer asks again after this time (ms): it is unknown when a
-- holder settles.
local ASK_AGAIN = 1000

-- Returns how many of `most` tasks a queue's limits allow, and when to ask for more; then `used` of
-- `measure_rate`, and whether it must be written.
local function allowed(settings, most, working, used, now)
  local again, jumped
  if settings.max_working then
    most = math.min(most, settings.max_working - working)
    again = now + ASK_AGAIN
  end
  if settings.rate then
    local left, next_allowed_at, counted, has_jumped = measure_rate(settings.rate, used, now, 0)
    if left < most then
      -- A rate of 0 a period, which a partition may have as its share, is never free by itself.
      most = left
      if next_allowed_at then
        again = next_allowed_at
      elseif not again then
        again = now + ASK_AGAIN
      end
    end
    used, jumped = counted, has_jumped
  end
  return most, again, used, jumped
end

-- The difference of two control fields that never decrease: how many were added, less how many removed.
local function remaining(control, added, removed)
  return tonumber(control[added] or 0) - tonumber(control[removed] or 0)
end

-- How many more pending tasks a queue may have. control: a table with `~ghosts` and `~dropped`.
local function places_left(settings, keys, control)
  if not settings or not settings.max_pending then
    return math.huge
  end
  local zsets = redis.call('ZCARD', keys.fair) + redis.call('ZCARD', keys.limited)
  local listed = redis.call('LLEN', keys.pending) - remaining(control, '~ghosts', '~dropped')
  return tonumber(settings.max_pending) - listed - zsets
end

-- True if a queue may not have `coming` more pending tasks.
local function exceeds_max_pending(settings, keys, control, coming)
  return coming > 0 and places_left(settings, keys, control) < coming
end
