-- _prelude: what every script may use; the build puts it, and the other rooms that begin with an underscore,
-- in front of each script, without what the script does not use.
-- README.md beside this file specifies the keys, the records and the invariants.

-- How long an ended id stays known, so that a resend gets its old answer.
local RESEND_WINDOW = 300000

-- Redis clips what `unpack` may put on the Lua stack.
local SLICE = 1000

-- Whole numbers as text: how a Lua prints a number is not portable.
local function int(number)
  return string.format('%.0f', number)
end

-- Redis's own time in ms; tests inject theirs.
local function clock(test_now)
  if test_now ~= '' then
    return tonumber(test_now)
  end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function append(list, first, second)
  list[#list + 1] = first
  list[#list + 1] = second
end

-- Counts a field up or down; an absent one is 0.
local function add(counts, field, amount)
  counts[field] = int(tonumber(counts[field] or 0) + amount)
end

-- A variadic write, in slices. A slice holds an even number of arguments, so pairs stay together. Returns how
-- many Redis says were added or removed.
local function write(command, key, args)
  local count = 0
  for first = 1, #args, SLICE do
    count = count + redis.call(command, key, unpack(args, first, math.min(first + SLICE - 1, #args)))
  end
  return count
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

-- The lowest score of a zset, to the whole ms.
local function head(key)
  local score = redis.call('ZRANGE', key, '0', '0', 'WITHSCORES')[2]
  return score and math.floor(tonumber(score))
end

-- When the first of `delayed` is due, and when it is worth asking again (nil: nothing known). deadline: of
-- the first lease; a look for silent workers counts only where somebody works.
local function upcoming(delayed, deadline)
  local first = redis.call('ZRANGE', delayed, '0', '1', 'WITHSCORES')
  local due = first[2] and math.floor(tonumber(first[2]))
  local wake = (first[1] ~= '~w' or deadline) and due or (first[4] and math.floor(tonumber(first[4])))
  return due, wake and math.min(wake, deadline or wake) or deadline
end

-- Redis at its limit refuses a command that may need memory as a script's first write, and allows it as a
-- later one. What replaces records frees more than it needs; a removal that removes nothing makes it later.
-- Returns the error where there is no room even so.
local function store(tasks, fields)
  local reply = redis.pcall('HSET', tasks, unpack(fields))
  if type(reply) == 'table' and reply.err then
    redis.call('HDEL', tasks, '')
    reply = redis.pcall('HSET', tasks, unpack(fields))
  end
  return type(reply) == 'table' and reply.err and reply or nil
end

-- The keys of a queue by part; a script names those that it declares.
local function queue_at(pending, fair, order, held, working, delayed, tasks, expiry, dead, workers, hands)
  local at =
    { pending = pending, fair = fair, order = order, held = held, working = working, delayed = delayed }
  at.tasks, at.expiry, at.dead, at.workers, at.hands = tasks, expiry, dead, workers, hands
  return at
end
