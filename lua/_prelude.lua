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

-- True for a record of a later release, which this one must not touch; not for one beyond reading.
local function newer(record)
  local version = string.match(record or '', '^(%d+);')
  return version and version ~= '1'
end

-- Letters whose value is no number.
local TEXTS = { t = true, y = true, p = true }

-- The letter options at the end of a record's first line. A number beyond reading counts as absent.
local function parse_letters(into, letters)
  for letter, value in string.gmatch(letters, ';(%a)=([^;]*)') do
    if TEXTS[letter] or (#value <= 15 and string.find(value, '^%d+$')) then
      into[letter] = value
    end
  end
  return into
end

-- What a fixed record says, without a copy of its payload.
local function parse_fixed(fixed)
  local enqueued_at, letters = string.match(fixed, '^1;(%d*)([^\n]*)')
  return parse_letters({ e = enqueued_at or '' }, letters or '')
end

-- Nine fields in fixed places, for they change most, then letters.
local CHANGING = '^1;(%d+);(%d*);(%d+);(%d+);(%a?);(%d+);([^;]*);(%d*);(%d*)(.*)$'

-- What a changing record says, and the text behind its first line (a result or an error). Nothing where
-- there is no record, or one beyond reading: the task then begins anew.
local function parse(record)
  local stop = record and string.find(record, '\n', 1, true)
  if not stop then
    return {}, ''
  end
  local v, e, a, c, s, n, k, q, l, letters = string.match(string.sub(record, 1, stop - 1), CHANGING)
  if not v then
    return {}, ''
  end
  local task = { v = v, e = e, a = a, c = c, s = s, n = n, k = k, q = q, l = l }
  if letters ~= '' then
    parse_letters(task, letters)
  end
  return task, string.sub(record, stop + 1)
end

-- As `parse`; what the task fixed at enqueue is taken over from there once.
local function parse_with(fixed, record)
  local task, text = parse(record)
  if (task.e or '') == '' then
    local first = parse_fixed(fixed)
    task.e, task.m, task.r, task.d, task.t = first.e, first.m, first.r, first.d, first.t
    task.v, task.a, task.c = task.v or '1', task.a or '0', task.c or '0'
    task.s, task.n, task.k, task.q, task.l = task.s or '', task.n or '0', '', '', ''
  end
  return task, text
end

-- In the order in which a changing record has them.
local LETTERS = { 'x', 'u', 'z', 'y', 'm', 'r', 'd', 't', 'f', 'g', 'p' }

-- The changing record of a task.
local function format(task, text)
  local letters = ''
  for i = 1, #LETTERS do
    local value = task[LETTERS[i]]
    if value then
      letters = letters .. ';' .. LETTERS[i] .. '=' .. value
    end
  end
  local fields = { '1', task.v, task.e, task.a, task.c, task.s, task.n, task.k, task.q, task.l }
  return table.concat(fields, ';') .. letters .. '\n' .. text
end

-- The record of an id that has nothing but entries in the list left over from cancelled lives.
local function ghost_record(state, ghosts)
  local task = { v = '1', e = '', a = '0', c = '0', s = state, n = '0', k = '', q = '', l = '', g = ghosts }
  return format(task, '')
end

-- Counts a field up or down; an absent one is 0.
local function add(task, field, amount)
  task[field] = int(tonumber(task[field] or 0) + amount)
end

-- True where a delivery more would be one too many.
local function exhausted(task)
  local most = tonumber(task.m or DEFAULT_MAX_ATTEMPTS)
  return most > 0 and tonumber(task.c) >= most
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

-- Writes that a script has decided on; `commit` carries them out.
local function new_plan()
  return { leave = {}, front = {}, back = {}, later = {}, fields = {}, expiry = {}, dead = {} }
end

-- How many leases one plan may end: no command of `commit` then has more than SLICE arguments.
local PLAN = 240

local function append(list, first, second)
  list[#list + 1] = first
  list[#list + 1] = second
end

-- Adds the end of a lease to a plan: the task waits again.
local function wait_again(plan, id, task, text)
  task.s, task.k, task.l = '', '', ''
  add(task, 'v', 1)
  append(plan.fields, '.' .. id, format(task, text))
end

-- Adds the end of a task to a plan. What is kept of it, and for how long, was fixed at enqueue; a
-- cancelled task keeps only its tombstone.
local function finish(plan, id, task, text, now, state, reason)
  local ttl = 0
  if state == 'completed' then
    ttl = tonumber(task.r or DEFAULT_RESULT_TTL)
  elseif reason ~= 'cancelled' then
    ttl = tonumber(task.d or DEFAULT_DEAD_TTL)
  end
  add(task, 'v', 1)
  task.s, task.k, task.l = string.sub(state, 1, 1), '', ''
  task.y = reason ~= '' and reason or nil
  task.z = int(now)
  task.f = nil
  if state == 'rejected' and ttl > 0 then
    append(plan.dead, task.z, id)
  else
    task.m, task.r, task.d = nil, nil, nil
    append(plan.fields, id, '')
  end
  append(plan.fields, '.' .. id, format(task, ttl > 0 and text or ''))
  append(plan.expiry, int(now + math.max(ttl, RESEND_WINDOW)), id)
end

-- Carries out a plan, what frees memory first. Returns the error where Redis has no room for the records:
-- nothing has then changed but the deadlines, which leave the holders a minute to settle again.
local function commit(plan, now, pending, working, delayed, tasks, expiry, dead)
  write('ZREM', working, plan.leave)
  local failed = #plan.fields > 0 and store(tasks, plan.fields)
  if failed then
    for _, id in ipairs(plan.leave) do
      redis.call('ZADD', working, int(now + 60000), id)
    end
    return failed
  end
  write('RPUSH', pending, plan.front)
  write('LPUSH', pending, plan.back)
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
-- Returns how many went back, how many ended, how many are a later release's and stay; and an error if any.
local function reclaim(pending, working, delayed, tasks, expiry, dead, now, limit)
  local ids = redis.call('ZRANGE', working, '-inf', int(now), 'BYSCORE', 'LIMIT', '0', int(limit))
  local reclaimed, rejected, left = 0, 0, 0
  -- From the back, so that the lease that expired first ends up in front.
  for last = #ids, 1, -PLAN do
    local first = math.max(last - PLAN + 1, 1)
    local names = {}
    for i = first, last do
      names[#names + 1] = '.' .. ids[i]
    end
    local records = redis.call('HMGET', tasks, unpack(names))
    local plan = new_plan()
    for i = last, first, -1 do
      local record = records[i - first + 1]
      if newer(record) then
        left = left + 1
      else
        local task, text = parse_with('', record)
        plan.leave[#plan.leave + 1] = ids[i]
        add(task, 'x', 1)
        if task.f then
          finish(plan, ids[i], task, text, now, 'rejected', 'cancelled')
        elseif exhausted(task) then
          finish(plan, ids[i], task, text, now, 'rejected', 'lease_expired')
        else
          wait_again(plan, ids[i], task, text)
          plan.front[#plan.front + 1] = ids[i]
        end
      end
    end
    local failed = commit(plan, now, pending, working, delayed, tasks, expiry, dead)
    if failed then
      return reclaimed, rejected, left, failed
    end
    reclaimed = reclaimed + #plan.front
    rejected = rejected + #plan.leave - #plan.front
  end
  return reclaimed, rejected, left
end
