-- count: reads how many tasks a queue has in each place, and how old the next one is. Changes nothing.
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local working = KEYS[3] -- zset  id -> lease deadline (ms)
local delayed = KEYS[4] -- zset  id -> due (ms)
local tasks = KEYS[5] -- hash  records and control fields
local dead = KEYS[6] -- zset  id -> when it was rejected (ms)
local workers = KEYS[7] -- zset  worker -> when it is silent (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
-- Returns {'ok', pending, delayed, working, rejected, age of the next (ms; -1: none pending),
--          when the next is due or the next lease expires (ms; 0: none), broken, workers, 1 if paused}

local now = clock(test_now)

-- The next in line may be ghosts; a few are looked past.
local function oldest_age(ids)
  for _, id in ipairs(ids) do
    local fixed = redis.call('HGET', tasks, id)
    if fixed and fixed ~= '' then
      return math.max(0, now - tonumber(parse_fixed(fixed).e))
    end
  end
  return -1
end

local NAMES = { '~ghosts', '~dropped', '~timers', '~rung', '~broken', '~mended', '~fair', '~set' }
local control = redis.call('HMGET', tasks, unpack(NAMES))
local fair_clock, settings = control[7], parse_settings(control[8] or nil)

-- How many came and have not gone: two control fields, neither of which ever goes down.
local function difference(came, gone)
  return tonumber(control[came] or 0) - tonumber(control[gone] or 0)
end

local waiting = redis.call('LLEN', pending) - difference(1, 2)
local next_ids = redis.call('LRANGE', pending, '-10', '-1')
for i = 1, math.floor(#next_ids / 2) do
  next_ids[i], next_ids[#next_ids + 1 - i] = next_ids[#next_ids + 1 - i], next_ids[i]
end
if fair_clock then
  waiting = waiting + redis.call('ZCARD', fair) + parse_clock(fair_clock).h
  next_ids[#next_ids + 1] = redis.call('ZRANGE', fair, '0', '0')[1]
end
local _, wake = upcoming(delayed, head(working))
return {
  'ok',
  waiting,
  redis.call('ZCARD', delayed) - difference(3, 4),
  redis.call('ZCARD', working),
  redis.call('ZCARD', dead),
  oldest_age(next_ids),
  wake or 0,
  difference(5, 6),
  redis.call('ZCARD', workers),
  settings.p and 1 or 0,
}
