-- basics: numbers, lists, the clock, and reads and writes in slices. lua/README.md specifies the keys, the
-- records and the invariants, and how the build adds what scripts share to each of them.

-- How long (ms) an ended id stays known at least, so that a resend gets its old answer.
local RESEND_WINDOW = 300000

-- Redis limits how many values `unpack` may put on the Lua stack.
local SLICE = 1000

-- Formats a whole number, or its text, as decimal text. How Lua prints a number is not portable.
local function int(number)
  return string.format('%.0f', tonumber(number))
end

-- The time of Redis in ms, as text. Tests inject their own.
local function clock_text(test_now)
  if test_now ~= '' then
    return int(test_now)
  end
  local time = redis.call('TIME')
  return time[1] .. string.sub('00000' .. time[2], -6, -4)
end

-- The same as a number.
local function clock(test_now)
  return tonumber(clock_text(test_now))
end

-- Appends one or two values to a list, except nil: some versions of Lua keep nil in the list as a hole.
local function append(list, first, second)
  if first ~= nil then
    list[#list + 1] = first
  end
  if second ~= nil then
    list[#list + 1] = second
  end
end

-- The keys of a table, sorted. Each version of Lua visits them in its own order.
local function sorted_keys(map)
  local keys = {}
  -- In any order: they are sorted below.
  for key in pairs(map) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

-- Adds to a counter in a table; an absent field is 0.
local function add(counts, field, amount)
  counts[field] = int(tonumber(counts[field] or 0) + amount)
end

-- Runs a variadic write in slices. A slice has an even number of arguments, so pairs stay together. Returns
-- how many Redis added or removed.
-- option: goes in front of the arguments, such as 'XX'.
local function write(command, key, args, option)
  local count = 0
  for first = 1, #args, SLICE do
    local last = math.min(first + SLICE - 1, #args)
    if option then
      count = count + redis.call(command, key, option, unpack(args, first, last))
    else
      count = count + redis.call(command, key, unpack(args, first, last))
    end
  end
  return count
end

-- The values of a list from the last one back to the given one.
local function reversed(list, first)
  local back = {}
  for i = #list, first, -1 do
    back[#back + 1] = list[i]
  end
  return back
end

-- Runs a variadic read in slices. A missing value is false.
local function read(command, key, args)
  local found = {}
  for first = 1, #args, SLICE do
    local last = math.min(first + SLICE - 1, #args)
    local slice = redis.call(command, key, unpack(args, first, last))
    for i = 1, last - first + 1 do
      found[first + i - 1] = slice[i]
    end
  end
  return found
end

-- A score that every Lua can read. An infinite score, which no script writes, becomes more than any time or
-- tag, or -1.
local function finite(score)
  return score == 'inf' and '9007199254740992' or score == '-inf' and '-1' or score
end

-- The lowest score of a zset, rounded down; nil if the zset is empty.
local function lowest_score(key)
  local score = redis.call('ZRANGE', key, '0', '0', 'WITHSCORES')[2]
  return score and math.floor(tonumber(finite(score)))
end

-- The error in a reply of Redis, if it is one.
local function error_of(reply)
  return type(reply) == 'table' and reply.err and reply or nil
end

-- The reply for an error that a function raised: one of Redis, or one of Lua.
local function error_reply_for(thrown)
  return redis.error_reply(type(thrown) == 'table' and thrown.err or 'ERR ' .. thrown)
end

-- Stores fields of a hash, such as `tasks`. Returns the error if Redis has no room for them.
-- A full Redis refuses a command that may need memory if it is the script's first write, and allows it as a
-- later one. Replacing records frees more than it needs. So after a refusal it removes a field that does not
-- exist, as the first write, and tries again.
local function store_fields(tasks, fields)
  local failed = error_of(redis.pcall('HSET', tasks, unpack(fields)))
  if failed then
    redis.call('HDEL', tasks, '')
    failed = error_of(redis.pcall('HSET', tasks, unpack(fields)))
  end
  return failed
end

-- The keys of a queue by part. A script passes those that it declares.
local function queue_keys(
  pending,
  fair,
  fair_by_group,
  limited,
  working,
  delayed,
  tasks,
  expiry,
  dead,
  workers,
  worker_leases
)
  local keys = {
    pending = pending,
    fair = fair,
    fair_by_group = fair_by_group,
    limited = limited,
    working = working,
    delayed = delayed,
  }
  keys.tasks, keys.expiry, keys.dead, keys.workers, keys.worker_leases =
    tasks, expiry, dead, workers, worker_leases
  return keys
end
