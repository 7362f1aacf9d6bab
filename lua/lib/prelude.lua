-- prelude: what every script may use; the build puts it, and the other rooms that begin with an underscore,
-- in front of each script, without what the script does not use.
-- README.md beside this file specifies the keys, the records and the invariants.

-- How long an ended id stays known, so that a resend gets its old answer.
local RESEND_WINDOW = 300000

-- Redis clips what `unpack` may put on the Lua stack.
local SLICE = 1000

-- A whole number, or its text, as decimal text: how Lua prints a number is not portable.
local function int(number)
  return string.format('%.0f', tonumber(number))
end

-- Redis's own time in ms, as text; tests inject theirs.
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

-- Appends one or two values to a list, except nil: some Luas keep it in the list as a hole.
local function append(list, first, second)
  if first ~= nil then
    list[#list + 1] = first
  end
  if second ~= nil then
    list[#list + 1] = second
  end
end

-- The keys of a table, sorted: each Lua visits them in its own order.
local function sorted_keys(map)
  local keys = {}
  -- In any order: they are sorted below.
  for key in pairs(map) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

-- Counts a field up or down; an absent one is 0.
local function add(counts, field, amount)
  counts[field] = int(tonumber(counts[field] or 0) + amount)
end

-- A variadic write, in slices. A slice holds an even number of arguments, so pairs stay together. Returns how
-- many Redis says were added or removed.
-- option: such as 'XX', in front of the arguments.
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

-- A list from the last one back to the given one.
local function reversed(list, first)
  local back = {}
  for i = #list, first, -1 do
    back[#back + 1] = list[i]
  end
  return back
end

-- A variadic read, in slices; false stands for what is not there.
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

-- A score that every Lua can read: `inf`, which no script writes, becomes more than any time or tag.
local function finite(score)
  return score == 'inf' and '9007199254740992' or score == '-inf' and '-1' or score
end

-- The lowest score of a zset, to the whole ms.
local function lowest_score(key)
  local score = redis.call('ZRANGE', key, '0', '0', 'WITHSCORES')[2]
  return score and math.floor(tonumber(finite(score)))
end

-- The error with which Redis refused a command, if it did.
local function error_of(reply)
  return type(reply) == 'table' and reply.err and reply or nil
end

-- The reply for what a function raised: an error of Redis, or of Lua.
local function error_reply_for(thrown)
  return redis.error_reply(type(thrown) == 'table' and thrown.err or 'ERR ' .. thrown)
end

-- Redis at its limit refuses a command that may need memory as a script's first write, and allows it as a
-- later one. What replaces records frees more than it needs; a removal that removes nothing makes it later.
-- Returns the error where there is no room even so.
local function store_fields(tasks, fields)
  local failed = error_of(redis.pcall('HSET', tasks, unpack(fields)))
  if failed then
    redis.call('HDEL', tasks, '')
    failed = error_of(redis.pcall('HSET', tasks, unpack(fields)))
  end
  return failed
end

-- The keys of a queue by part; a script names those that it declares.
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
