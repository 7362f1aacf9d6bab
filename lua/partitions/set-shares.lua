-- set-shares: sets a partition's shares of the queue's limits, and reads how much of them is in use. (I3)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[4] -- zset  id -> lease deadline (ms)
local tasks = KEYS[5] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local version = ARGV[2] -- of the shares
local max_working = ARGV[3] -- most working; empty: no limit
local rate = ARGV[4] -- `<most>/<period in ms>`; empty: no limit
local max_pending = ARGV[5] -- most pending; empty: no limit
local wake = ARGV[6] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
-- Returns {'ok', pending, working, dequeues of the last period of the rate, 1 if the caller must wake a
--          consumer}
--      or {'older', version of the shares that the partition has}: nothing has changed
--      or {'newer_schema'}

local found = redis.call('HMGET', tasks, '~set', '~rate', '~ghosts', '~dropped', '~wake')
if newer_settings(found[1]) then
  return { 'newer_schema' }
end
local now, used = clock(test_now), found[2] or ''
local was, settings = parse_settings(found[1]), parse_settings(found[1])
local shares = was[SHARES]
if shares and tonumber(shares) > tonumber(version) then
  return { 'older', tonumber(shares) }
end
settings[SHARES] = version
settings.max_working = max_working ~= '' and max_working or nil
settings.rate = rate ~= '' and rate or nil
settings.max_pending = max_pending ~= '' and max_pending or nil
if not shares then
  -- What the queue has from before it had shares are limits of the whole queue.
  -- In any order: each name has one value.
  for name, total in pairs(TOTALS) do
    settings[total] = settings[total] or was[name]
  end
end
local fields = {}
if was.rate and settings.rate and was.rate ~= rate then
  used = convert_counts(used, was.rate, rate, now)
  append(fields, '~rate', used)
end
if shares ~= version then
  append(fields, '~set', format_settings(settings))
end
if #fields > 0 then
  local failed = store_fields(tasks, fields)
  if failed then
    return failed
  end
end
local spent = 0
if settings.rate then
  local most = parse_rate(rate)
  spent = most - measure_rate(rate, used, now, 0)
end
local waiting = redis.call('LLEN', pending)
  - remaining({ ['~ghosts'] = found[3], ['~dropped'] = found[4] }, '~ghosts', '~dropped')
  + redis.call('ZCARD', fair)
  + redis.call('ZCARD', limited)
local changed = settings.max_working ~= was.max_working or settings.rate ~= was.rate
local wakes = wake ~= ''
  and changed
  and waiting > 0
  and record_wake(tasks, { found[5], format_settings(settings) }, now, wake)
return { 'ok', waiting, redis.call('ZCARD', working), spent, wakes and 1 or 0 }
