-- dequeue: pending -> working; promotes and reclaims first where too few are pending. (I2 I4 I5 I6 I8)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local working = KEYS[2] -- zset  id -> lease deadline (ms)
local delayed = KEYS[3] -- zset  id -> due (ms)
local tasks = KEYS[4] -- hash  records and control fields
local expiry = KEYS[5] -- zset  id -> when its record goes away (ms)
local dead = KEYS[6] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local max_tasks = ARGV[2] -- at most this many tasks, 1 to 1,000
local lease = ARGV[3] -- lease (ms) of tasks that fixed none
local token = ARGV[4] -- the caller's lease token, one a call
local resend = ARGV[5] -- '1' where an earlier copy of this call may have been sent
local max_bytes = ARGV[6] -- bound on the bytes of the records in the reply
-- Returns {'ok', when more will be ready (ms; 0: nothing known), then for each task:
--          id, attempt, lease number, deadline (ms), fixed record}
--      or {'newer_schema'}

local max = tonumber(max_tasks)
local now -- read once, and only where something is there
local popped = {} -- every id taken off the list, in order
local drained -- nothing more is pending
local next_due -- when the next delayed task is due or lease expires (0: none); known once that was looked at

-- Which field remembers this call, so that a resend gets the same tasks: few for those of many tasks.
local function slot_of(text)
  local slots = max > 100 and 64 or 1024
  local hash = 0
  for i = 1, #text do
    hash = (hash * 31 + string.byte(text, i)) % slots
  end
  return (max > 100 and '~R' or '~r') .. int(hash)
end

local slot = slot_of(token)

local function pop(most)
  local ids = redis.call('RPOP', pending, int(most)) or {}
  for _, id in ipairs(ids) do
    popped[#popped + 1] = id
  end
  return #ids
end

-- Gives popped ids back, from the given one on, as if they had not been touched.
local function put_back(first)
  local ids = {}
  for i = #popped, first, -1 do
    ids[#ids + 1] = popped[i]
  end
  write('RPUSH', pending, ids)
  for i = #popped, first, -1 do
    popped[i] = nil
    drained = false
  end
end

local function head(key)
  return tonumber(redis.call('ZRANGE', key, '0', '0', 'WITHSCORES')[2])
end

-- Takes ids off the list. Where it holds too few, what is due goes in first, once a call.
local function fetch(most)
  local first = #popped + 1
  drained = pop(most) < most
  if not drained or next_due then
    return
  end
  local due, deadline = head(delayed), head(working)
  if due or deadline then
    now = clock(test_now)
  end
  local ready, expired = due and due <= now, deadline and deadline <= now
  if ready or expired then
    -- Reclaimed tasks stand before those already popped, promoted ones behind them.
    put_back(first)
    if expired then
      reclaim(pending, working, delayed, tasks, expiry, dead, now, math.max(most, 32))
      deadline = head(working)
    end
    if ready then
      promote(pending, delayed, now, most)
      due = head(delayed)
    end
    drained = pop(most) < most
  end
  next_due = math.min(due or deadline or 0, deadline or due or 0)
end

local function give(reply, id, task, deadline, fixed)
  append(reply, id, tonumber(task.a))
  append(reply, tonumber(task.n), deadline)
  reply[#reply + 1] = fixed
end

-- The reply to a copy of a call that has run already: what is still leased under its token.
local function lease_again(held)
  local ids, fields = {}, {}
  for id in string.gmatch(held, '%S+') do
    ids[#ids + 1] = id
    append(fields, id, '.' .. id)
  end
  local found = read('HMGET', tasks, fields)
  local deadlines = read('ZMSCORE', working, ids)
  local reply = { 'ok', now or clock(test_now) }
  for i, id in ipairs(ids) do
    local task = parse(found[2 * i])
    if task.s == 'w' and task.k == token then
      give(reply, id, task, tonumber(deadlines[i] or 0), found[2 * i - 1])
    end
  end
  return reply
end

local taken, company, bytes = {}, max, 0
local entries = {} -- id -> what was found of it, as this call leaves it
local ghosts, broken = 0, 0
local counter

-- True for an entry of the list that is no task to deliver: one cancelled, or one without a sound record.
local function stray(entry)
  local task = entry.task
  if tonumber(task.g or 0) > 0 then
    add(task, 'g', -1)
    task.g = task.g ~= '0' and task.g or nil
    ghosts = ghosts + 1
    entry.changed = true
    return true
  end
  if task.s ~= '' or not string.find(entry.fixed or '', '^1;%d+[^\n]*\n') then
    broken = broken + 1
    return true
  end
  return false
end

-- False where the batch must end before this task.
local function take(entry)
  -- A task whose lease expired k times travels in a batch of at most max / 10^k.
  local most = company
  if entry.task.x then
    most = math.min(company, math.max(1, math.floor(max / 10 ^ tonumber(entry.task.x))))
  end
  local size = bytes + #entry.fixed
  if #taken >= most or (#taken > 0 and size > tonumber(max_bytes)) then
    return false
  end
  company, bytes = most, size
  taken[#taken + 1] = entry
  entry.task.s = 'w'
  return true
end

-- What was found of an id; an id that stands in the list again is as its first entry left it.
local function entry_of(id, fixed, record)
  if not entries[id] then
    local task, text = parse_with(fixed or '', record)
    entries[id] = { id = id, fixed = fixed, record = record, task = task, text = text }
  end
  return entries[id]
end

-- Fills the batch. Returns the reply where that is settled already.
local function choose()
  fetch(max)
  local position, slice = 1, 32
  repeat
    -- In slices, so that large payloads cannot fill the script's memory.
    local last = math.min(position + slice - 1, #popped)
    slice = 128
    local fields = { '~lease', slot }
    for i = position, last do
      append(fields, popped[i], '.' .. popped[i])
    end
    local found = redis.call('HMGET', tasks, unpack(fields))
    if not counter then
      counter = tonumber(found[1] or 0) or error('~lease is not a number')
      if found[2] and string.match(found[2], '^%S+') == token then
        put_back(1)
        return lease_again(string.sub(found[2], #token + 1))
      end
    end
    for i = position, last do
      local fixed, record = found[2 * (i - position) + 3], found[2 * (i - position) + 4]
      local foreign = newer(fixed) or newer(record)
      if foreign and #taken == 0 then
        put_back(1)
        return { 'newer_schema' }
      end
      local entry = entry_of(popped[i], fixed, record)
      if foreign or not (stray(entry) or take(entry)) then
        return put_back(i)
      end
    end
    position = last + 1
    if #taken >= company then
      return put_back(position)
    end
    -- Strays do not stand in the way of tasks behind them, within bounds.
    if position > #popped and not drained and #popped < max + SLICE then
      fetch(max - #taken)
    end
  until position > #popped
end

-- Leases the taken ones from first to last, all of them or, where Redis has no room, none: returns the error.
local function lease_slice(first, last)
  local ids, deadlines, fields = {}, {}, {}
  if first == 1 then
    local held = { token }
    for i, entry in ipairs(taken) do
      held[i + 1] = entry.id
    end
    fields = { '~lease', int(counter + #taken), slot, table.concat(held, ' ') }
  end
  local now_text = int(now)
  for i = first, last do
    local entry = taken[i]
    local task = entry.task
    add(task, 'v', 1)
    add(task, 'a', 1)
    add(task, 'c', 1)
    task.n, task.k, task.q = int(counter + i), token, now_text
    task.l = string.match(entry.fixed, '^[^\n]*;l=(%d+)') or lease
    entry.deadline = now + tonumber(task.l)
    ids[#ids + 1] = entry.id
    append(deadlines, int(entry.deadline), entry.id)
    append(fields, '.' .. entry.id, format(task, entry.text))
  end
  local reply = redis.pcall('ZADD', working, unpack(deadlines))
  if type(reply) == 'table' and reply.err then
    return reply
  end
  local failed = store(tasks, fields)
  if failed then
    redis.call('ZREM', working, unpack(ids))
  end
  return failed
end

-- Drops the ghosts that were met.
local function write_ghosts()
  local fields, gone = {}, {}
  for id, entry in pairs(entries) do
    if entry.changed and not entry.deadline then
      -- As it stood, with fewer ghosts: nothing here may need memory.
      local task, text = parse(entry.record)
      local left = entry.task.g
      if left or task.e ~= '' then
        task.g = left
        append(fields, '.' .. id, format(task, text))
      else
        gone[#gone + 1] = '.' .. id
        gone[#gone + 1] = task.s == 'g' and id or nil
      end
    end
  end
  write('HDEL', tasks, gone)
  write('HSET', tasks, fields)
  redis.call('HINCRBY', tasks, '~ghosts', int(-ghosts))
end

local fine, answer = pcall(choose)
if not fine then
  put_back(1)
  return redis.error_reply(type(answer) == 'table' and answer.err or 'ERR ' .. answer)
elseif answer then
  return answer
end

if #taken > 0 or not drained then
  now = now or clock(test_now)
end
for first = 1, #taken, 490 do
  local failed = taken[first] and lease_slice(first, math.min(first + 489, #taken))
  if failed and first == 1 then
    put_back(1)
    return failed
  elseif failed then
    for i = #taken, first, -1 do
      local entry = taken[i]
      redis.call('RPUSH', pending, entry.id)
      local ghosts_left = entry.task.g
      entry.task, entry.text = parse_with(entry.fixed, entry.record)
      entry.task.g, entry.deadline, taken[i] = ghosts_left, nil, nil
    end
    drained = false
  end
end
if ghosts > 0 then
  write_ghosts()
end
if broken > 0 then
  redis.call('HINCRBY', tasks, '~broken', int(broken))
end
if #taken == 0 and resend == '1' then
  -- So that a first copy that arrives late leases nothing. Redis at its limit refuses this one write;
  -- such a copy then costs a lease that nobody holds.
  redis.pcall('HSET', tasks, slot, token)
end

local reply = { 'ok', drained and next_due or now }
for _, entry in ipairs(taken) do
  give(reply, entry.id, entry.task, entry.deadline, entry.fixed)
end
return reply
