-- _prelude: local functions that the build puts in front of every script that uses them.
-- README.md beside this file specifies the keys, the records and the invariants.

-- What a record means where it fixes nothing itself.
local DEFAULT_MAX_ATTEMPTS = 5

local DEFAULT_RESULT_TTL = 3600000

local DEFAULT_DEAD_TTL = 604800000

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

-- A variadic write, in slices. A slice holds an even number of arguments, so pairs stay together.
local function write(command, key, args)
  for first = 1, #args, SLICE do
    redis.call(command, key, unpack(args, first, math.min(first + SLICE - 1, #args)))
  end
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

-- True for a record of a later release, which this one must not touch.
local function newer(record)
  return record and record ~= '' and string.sub(record, 1, 2) ~= '1;'
end

-- The letter options in the first line of a record, and the text behind that line.
local function parse(record)
  local options, text = {}, ''
  if record and record ~= '' then
    local stop = string.find(record, '\n', 1, true)
    for letter, value in string.gmatch(string.sub(record, 1, stop - 1), ';(%a)=([^;]*)') do
      options[letter] = value
    end
    text = string.sub(record, stop + 1)
  end
  return options, text
end

-- The options of a fixed record, without a copy of its payload.
local function parse_fixed(record)
  return (parse(string.match(record, '^[^\n]*\n?')))
end

-- The changing record of a task, from its options and its text (a result or an error).
local function format(options, text)
  local parts = { '1' }
  for letter in string.gmatch('veacxsnkquzylmrdtfgp', '.') do
    if options[letter] then
      parts[#parts + 1] = letter .. '=' .. options[letter]
    end
  end
  return table.concat(parts, ';') .. '\n' .. text
end

-- Counts an option up or down; an absent one is 0.
local function add(options, letter, amount)
  options[letter] = int(tonumber(options[letter] or 0) + amount)
end

-- The options and the text of a task; what it fixed at enqueue is taken over from there once.
local function options_of(fixed, record)
  local options, text = parse(record)
  if not options.e then
    local first = parse_fixed(fixed)
    for letter in string.gmatch('emrdt', '.') do
      options[letter] = first[letter]
    end
    options.v = options.v or '1'
  end
  return options, text
end

-- True where a delivery more would be one too many.
local function exhausted(options)
  local most = tonumber(options.m or DEFAULT_MAX_ATTEMPTS)
  return most > 0 and tonumber(options.c or 0) >= most
end

-- Writes that a script has decided on; `commit` carries them out.
local function new_plan()
  return { leave = {}, front = {}, back = {}, later = {}, fields = {}, expiry = {}, dead = {} }
end

-- Adds "keep this record" to a plan.
local function keep(plan, id, options, text)
  plan.fields[#plan.fields + 1] = '.' .. id
  plan.fields[#plan.fields + 1] = format(options, text)
end

-- Adds the end of a task to a plan. What is kept of it, and for how long, was fixed at enqueue; a
-- cancelled task keeps only its tombstone.
local function finish(plan, id, options, text, now, state, reason)
  local ttl = 0
  if state == 'completed' then
    ttl = tonumber(options.r or DEFAULT_RESULT_TTL)
  elseif reason ~= 'cancelled' then
    ttl = tonumber(options.d or DEFAULT_DEAD_TTL)
  end
  add(options, 'v', 1)
  options.s = string.sub(state, 1, 1)
  options.y = reason ~= '' and reason or nil
  options.z = int(now)
  options.k, options.l, options.m, options.r, options.d = nil, nil, nil, nil, nil
  if state == 'rejected' and ttl > 0 then
    plan.dead[#plan.dead + 1] = int(now)
    plan.dead[#plan.dead + 1] = id
  else
    plan.fields[#plan.fields + 1] = id
    plan.fields[#plan.fields + 1] = ''
  end
  keep(plan, id, options, ttl > 0 and text or '')
  plan.expiry[#plan.expiry + 1] = int(now + math.max(ttl, RESEND_WINDOW))
  plan.expiry[#plan.expiry + 1] = id
end

-- Carries out a plan. What frees memory stands first: Redis at its limit refuses a script whose first
-- write needs more, and allows the rest of one that has begun.
local function commit(plan, pending, working, delayed, tasks, expiry, dead)
  write('ZREM', working, plan.leave)
  write('RPUSH', pending, plan.front)
  write('LPUSH', pending, plan.back)
  write('HSET', tasks, plan.fields)
  write('ZADD', delayed, plan.later)
  write('ZADD', expiry, plan.expiry)
  write('ZADD', dead, plan.dead)
end

-- promote: delayed -> pending, at the back, in the order in which they fell due. (I6 I8)
local function promote(pending, delayed, now, limit)
  local ids = redis.call('ZRANGE', delayed, '-inf', int(now), 'BYSCORE', 'LIMIT', '0', int(limit))
  write('ZREM', delayed, ids)
  write('LPUSH', pending, ids)
  return #ids
end

-- reclaim: working with an expired lease -> pending, at the front, or rejected. (I5 I6 I8)
-- Returns how many went back and how many ended, or nil for a record of a later release.
local function reclaim(pending, working, delayed, tasks, expiry, dead, now, limit)
  local ids = redis.call('ZRANGE', working, '-inf', int(now), 'BYSCORE', 'LIMIT', '0', int(limit))
  local names = {}
  for i, id in ipairs(ids) do
    names[i] = '.' .. id
  end
  local records = read('HMGET', tasks, names)
  local plan = new_plan()
  -- From the back, so that the lease that expired first ends up in front.
  for i = #ids, 1, -1 do
    if newer(records[i]) then
      return nil
    end
    local options, text = parse(records[i])
    plan.leave[#plan.leave + 1] = ids[i]
    add(options, 'x', 1)
    if options.f then
      finish(plan, ids[i], options, text, now, 'rejected', 'cancelled')
    elseif exhausted(options) then
      finish(plan, ids[i], options, text, now, 'rejected', 'lease_expired')
    else
      options.s, options.k, options.l = nil, nil, nil
      add(options, 'v', 1)
      keep(plan, ids[i], options, text)
      plan.front[#plan.front + 1] = ids[i]
    end
  end
  commit(plan, pending, working, delayed, tasks, expiry, dead)
  return #plan.front, #ids - #plan.front
end
