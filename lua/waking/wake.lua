-- wake: records that another consumer is woken, unless one was woken within the window. Changes no task.
local tasks = KEYS[1] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local window = ARGV[2] -- how long (ms) a wake of a consumer counts
-- Returns {'ok', 1 if the caller must wake it}

local now = clock(test_now)
local text = redis.call('HGET', tasks, '~wake')
local sent, _, given = parse_wake(text)
if now >= sent and now < sent + tonumber(window) then
  return { 'ok', 0 }
end
-- A caller with a shorter window does not shorten it for consumers that are awake. If the wake cannot be
-- recorded, no consumer is woken: each caller would wake another one, which would call as well.
local failed = store_fields(tasks, { '~wake', awake_text(now, math.max(tonumber(window), given), text) })
return { 'ok', failed and 0 or 1 }
