-- count: reads how many tasks a queue has in each place, and how old the next one is. Changes nothing.
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local held = KEYS[3] -- zset  id -> place behind its group's limit
local working = KEYS[4] -- zset  id -> lease deadline (ms)
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local dead = KEYS[7] -- zset  id -> when it was rejected (ms)
local workers = KEYS[8] -- zset  worker -> when it is silent (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
-- Returns {'ok', pending, delayed, working, rejected, age of the next (ms; -1: none pending),
--          when the next is due or the next lease expires (ms; 0: none), broken, workers, 1 if paused}

-- If the next in line are ghosts, at most so many entries of the list are read, a page at a time.
local MOST = 1000
local PAGE = 100
local now = clock(test_now)

local function age(enqueued_at)
  return math.max(0, now - tonumber(enqueued_at))
end

-- Returns nil if the id has no payload, such as that of a cancelled task.
local function age_of(id)
  local fixed = id and redis.call('HGET', tasks, id)
  if fixed and fixed ~= '' then
    return age(parse_fixed(fixed).e)
  end
end

-- Returns the age of the first task in the list that is no ghost, nil if there are too many ghosts before it;
-- and the age of the last ghost read, which the first is at most.
local function age_behind_ghosts()
  local seen, bound = {}, nil
  for first = 1, MOST, PAGE do
    local ids, names = redis.call('LRANGE', pending, int(1 - first - PAGE), int(-first)), {}
    for i = #ids, 1, -1 do
      names[#names + 1] = '.' .. ids[i]
    end
    for i, record in ipairs(read('HMGET', tasks, names)) do
      local id, task = ids[#ids + 1 - i], parse(record)
      seen[id] = (seen[id] or 0) + 1
      if seen[id] > tonumber(task.g or 0) then
        return age_of(id), bound
      end
      if (task.e or '') ~= '' then
        bound = age(task.e)
      end
    end
    if #ids < PAGE then
      break
    end
  end
  return nil, bound
end

local NAMES = { '~ghosts', '~dropped', '~timers', '~rung', '~broken', '~mended', '~fair', '~set' }
local control = redis.call('HMGET', tasks, unpack(NAMES))
local fair_clock, settings = control[7], parse_settings(control[8] or nil)

-- How many came and are not gone, by two control fields that never go down.
local function difference(came, gone)
  return tonumber(control[came] or 0) - tonumber(control[gone] or 0)
end

local waiting = redis.call('LLEN', pending) - difference(1, 2)
local next_listed = redis.call('LRANGE', pending, '-1', '-1')[1]
local oldest, bound = age_of(next_listed), nil
if not oldest and next_listed and waiting > 0 then
  oldest, bound = age_behind_ghosts()
end
if fair_clock then
  waiting = waiting + redis.call('ZCARD', fair) + parse_clock(fair_clock).h
  oldest = oldest
    or age_of(redis.call('ZRANGE', fair, '0', '0')[1])
    or age_of(redis.call('ZRANGE', held, '0', '0')[1])
end
local _, wake = upcoming(delayed, head(working))
return {
  'ok',
  waiting,
  redis.call('ZCARD', delayed) - difference(3, 4),
  redis.call('ZCARD', working),
  redis.call('ZCARD', dead),
  oldest or (waiting > 0 and (bound or 0)) or -1,
  wake or 0,
  difference(5, 6),
  redis.call('ZCARD', workers),
  settings.p and 1 or 0,
}
