-- forget-limits: removes the settings of flow control keys whose time has come, if no task needs them. (I3)
local needed = KEYS[1] -- zset  group -> until when its settings are needed (ms): at least a day after its
-- last delayed task is due
local delayed = KEYS[2] -- zset  id -> due (ms)
local tasks = KEYS[3] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local most = ARGV[2] -- at most this many groups, 1 to 500
-- Returns {'ok', at how many groups it has looked}. Those with tasks, or with other settings, are looked at
--          again a day later

local DAY = 86400000
-- The settings that messages bring.
local LIMITS = { max_working = true, rate = true, number = true }

local now = clock(test_now)
local names = redis.call('ZRANGE', needed, '-inf', int(now), 'BYSCORE', 'LIMIT', '0', most)
if #names == 0 then
  return { 'ok', 0 }
end
-- A task that is late for so long, and not promoted, may be of any group.
local late = redis.call('ZRANGE', delayed, '-inf', int(now - DAY), 'BYSCORE', 'LIMIT', '0', '1')

-- True if there is no record, or one of this version, which no order of the group has.
local function is_readable(record)
  return not record or string.sub(record, 1, 2) == '1;'
end

-- True if a group has no tasks, no dequeue counts against its rate, and nothing else is set.
local function is_unused(name, state, text, line)
  if #late > 0 or line or not (is_readable(state) and is_readable(text)) then
    return false
  end
  local settings, group = parse_settings(text, now), parse_group(name, state, text)
  -- In any order: all must be limits.
  for setting in pairs(settings) do
    if not LIMITS[setting] then
      return false
    end
  end
  local spent = settings.rate and measure_rate(settings.rate, group.used, now, 0) < parse_rate(settings.rate)
  return group.working + group.ready + group.limited == 0 and not spent
end

local fields = {}
for _, name in ipairs(names) do
  append(fields, '~g:' .. name, '~s:' .. name)
  append(fields, '~o:' .. name)
end
local found = read('HMGET', tasks, fields)
local unused, removed, later = {}, {}, {}
for i, name in ipairs(names) do
  local state, text, line = found[3 * i - 2] or nil, found[3 * i - 1] or nil, found[3 * i] or nil
  if is_unused(name, state, text, line) then
    append(unused, name)
    append(removed, '~g:' .. name, '~s:' .. name)
  else
    append(later, int(now + DAY), name)
  end
end
write('HDEL', tasks, removed)
write('ZREM', needed, unused)
if #later > 0 then
  redis.call('ZADD', needed, unpack(later))
end
return { 'ok', #names }
