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

-- Which field remembers this call, so that a resend gets the same tasks.
local function slot_of(text)
  local hash = 0
  for i = 1, #text do
    hash = (hash * 31 + string.byte(text, i)) % 1024
  end
  return '~r' .. int(hash)
end

local slot = slot_of(token)
local popped = {} -- every id taken off the list, in order

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
    popped[i] = nil
  end
  write('RPUSH', pending, ids)
end

-- Moves what is due into the list. Returns how many, and the instant of the next (0: nothing waits).
local function move_due(most)
  local function head(key)
    return tonumber(redis.call('ZRANGE', key, '0', '0', 'WITHSCORES')[2])
  end
  local due, deadline = head(delayed), head(working)
  local moved = 0
  if due or deadline then
    now = clock(test_now)
  end
  if deadline and deadline <= now then
    moved = reclaim(pending, working, delayed, tasks, expiry, dead, now, most) or 0
    deadline = head(working)
  end
  if due and due <= now and moved < most then
    moved = moved + promote(pending, delayed, now, most - moved)
    due = head(delayed)
  end
  return moved, math.min(due or deadline or 0, deadline or due or 0)
end

-- The lease counter, this call's slot, and the records of popped ids first to last.
local function records(first, last)
  local fields = { '~lease', slot }
  for i = first, last do
    fields[#fields + 1] = popped[i]
    fields[#fields + 1] = '.' .. popped[i]
  end
  return redis.pcall('HMGET', tasks, unpack(fields))
end

local function give(reply, id, task, deadline, fixed)
  append(reply, id, tonumber(task.a))
  append(reply, tonumber(task.n), deadline)
  reply[#reply + 1] = fixed
end

-- The reply to a copy of a call that has run already: what is still leased under its token.
local function lease_again(ids)
  local reply = { 'ok', now or clock(test_now) }
  for id in string.gmatch(ids, '%S+') do
    local found = redis.call('HMGET', tasks, id, '.' .. id)
    local task = parse(found[2])
    if task.s == 'w' and task.k == token then
      local deadline = redis.call('ZSCORE', working, id)
      give(reply, id, task, tonumber(deadline), found[1])
    end
  end
  return reply
end

local next_due = 0
local drained = pop(max) < max
if drained then
  local moved
  moved, next_due = move_due(max - #popped)
  if moved > 0 then
    pop(max - #popped)
    drained = #popped < max
  end
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

local position, slice, full = 1, 32, false
repeat
  -- Slices that grow, so that large payloads cannot fill the script's memory.
  local last = math.min(position + slice - 1, #popped)
  slice = math.min(slice * 4, 499)
  local found = records(position, last)
  if found.err then
    put_back(1)
    return found
  end
  if not counter then
    counter = tonumber(found[1] or 0)
    if found[2] and string.match(found[2], '^%S+') == token then
      put_back(1)
      return lease_again(string.sub(found[2], #token + 1))
    end
  end
  for i = position, last do
    local id = popped[i]
    local fixed, record = found[2 * (i - position) + 3], found[2 * (i - position) + 4]
    if newer(fixed) or newer(record) then
      put_back(1)
      return { 'newer_schema' }
    end
    if not entries[id] then
      local task, text = parse_with(fixed or '', record)
      entries[id] = { id = id, fixed = fixed, task = task, text = text }
    end
    if not stray(entries[id]) and not take(entries[id]) then
      full = true
      put_back(i)
      break
    end
  end
  position = last + 1
  full = full or #taken >= company
  -- Strays do not stand in the way of tasks behind them, within bounds.
  if not full and not drained and position > #popped and #popped < max + SLICE then
    drained = pop(max - #taken) < max - #taken
  end
until full or position > #popped
if position <= #popped then
  put_back(position)
end

if #taken > 0 or not drained then
  now = now or clock(test_now)
  next_due = drained and next_due or now
end

-- Writes the records of leases first to last; the error where Redis has no room for them.
local function write_leases(first, last)
  local fields = {}
  if first == 1 then
    local held = { token }
    for i, entry in ipairs(taken) do
      held[i + 1] = entry.id
    end
    fields = { '~lease', int(counter + #taken), slot, table.concat(held, ' ') }
  end
  local now_text = int(now)
  for i = first, last do
    local task = taken[i].task
    add(task, 'v', 1)
    add(task, 'a', 1)
    add(task, 'c', 1)
    task.n, task.k, task.q = int(counter + i), token, now_text
    task.l = string.match(taken[i].fixed, '^[^\n]*;l=(%d+)') or lease
    append(fields, '.' .. taken[i].id, format(task, taken[i].text))
  end
  local reply = redis.pcall('HSET', tasks, unpack(fields))
  return type(reply) == 'table' and reply.err and reply
end

for first = 1, #taken, 490 do
  local failed = taken[first] and write_leases(first, math.min(first + 489, #taken))
  if failed and first == 1 then
    put_back(1)
    return failed
  elseif failed then
    -- Full in a way that taking ids off the list does not cure: whoever has no record goes back.
    for i = #taken, first, -1 do
      redis.call('RPUSH', pending, taken[i].id)
      taken[i] = nil
    end
  end
end

local reply, deadlines = { 'ok', next_due }, {}
for _, entry in ipairs(taken) do
  local deadline = now + tonumber(entry.task.l)
  append(deadlines, int(deadline), entry.id)
  give(reply, entry.id, entry.task, deadline, entry.fixed)
end
write('ZADD', working, deadlines)

if ghosts > 0 then
  local fields, gone = {}, {}
  for id, entry in pairs(entries) do
    if entry.changed and entry.task.s == 'g' and not entry.task.g then
      append(gone, id, '.' .. id)
    elseif entry.changed and entry.task.s ~= 'w' then
      append(fields, '.' .. id, format(entry.task, entry.text))
    end
  end
  write('HDEL', tasks, gone)
  write('HSET', tasks, fields)
  redis.call('HINCRBY', tasks, '~ghosts', int(-ghosts))
end
if broken > 0 then
  redis.call('HINCRBY', tasks, '~broken', int(broken))
end
if #taken == 0 and resend == '1' then
  -- So that a first copy that arrives late leases nothing. Redis at its limit refuses this one write;
  -- such a copy then costs a lease that nobody holds.
  redis.pcall('HSET', tasks, slot, token)
end
return reply
