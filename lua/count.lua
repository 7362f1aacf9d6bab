-- count: reads how many tasks a queue has in each place, and how old the next one is. Changes nothing.
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local working = KEYS[2] -- zset  id -> lease deadline (ms)
local delayed = KEYS[3] -- zset  id -> due (ms)
local tasks = KEYS[4] -- hash  records and control fields
local dead = KEYS[5] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
-- Returns {'ok', pending, delayed, working, rejected, age of the next (ms; -1: none pending),
--          when the next is due or the next lease expires (ms; 0: none), broken}

local now = clock(test_now)

local function head(key)
  return tonumber(redis.call('ZRANGE', key, '0', '0', 'WITHSCORES')[2])
end

-- The next in line may be ghosts; a few are looked past.
local function oldest_age()
  for back = -1, -10, -1 do
    local id = redis.call('LINDEX', pending, int(back))
    if not id then
      break
    end
    local fixed = redis.call('HGET', tasks, id)
    if fixed and fixed ~= '' then
      return math.max(0, now - tonumber(parse_fixed(fixed).e))
    end
  end
  return -1
end

local control = redis.call('HMGET', tasks, '~ghosts', '~broken')
local due, deadline = head(delayed), head(working)
return {
  'ok',
  redis.call('LLEN', pending) - tonumber(control[1] or 0),
  redis.call('ZCARD', delayed),
  redis.call('ZCARD', working),
  redis.call('ZCARD', dead),
  oldest_age(),
  math.min(due or deadline or 0, deadline or due or 0),
  tonumber(control[2] or 0),
}
