-- wake: changes no task. Notes that another consumer is woken, unless one was within the window.
local tasks = KEYS[1] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local window = ARGV[2] -- for how long (ms) a wake of a consumer counts
-- Returns {'ok', 1 where the caller is to wake it}

local now = clock(test_now)
local sent = parse_wake(redis.call('HGET', tasks, '~wake'))
if now < sent + tonumber(window) then
  return { 'ok', 0 }
end
redis.pcall('HSET', tasks, '~wake', awake_from(now, window))
return { 'ok', 1 }
