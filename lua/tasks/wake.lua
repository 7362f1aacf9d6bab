-- wake: changes no task. Notes that another consumer is woken, unless one was within the window.
local tasks = KEYS[1] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local window = ARGV[2] -- for how long (ms) a wake of a consumer counts
-- Returns {'ok', 1 where the caller is to wake it}

local now = clock(test_now)
local sent, _, given = parse_wake(redis.call('HGET', tasks, '~wake'))
if now >= sent and now < sent + tonumber(window) then
  return { 'ok', 0 }
end
-- One who asks with a shorter window, to hand over, does not shorten it for those who are awake. Where it
-- cannot be noted nobody is woken: each who asks would wake another, which asks as well.
local failed = store_fields(tasks, { '~wake', awake_text(now, math.max(tonumber(window), given)) })
return { 'ok', failed and 0 or 1 }
