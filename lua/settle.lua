-- settle: working -> completed | rejected | pending | delayed, or stays with a later deadline (extend).
-- Only the holder of the current lease. (I2 I3 I5 I8)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local working = KEYS[2] -- zset  id -> lease deadline (ms)
local delayed = KEYS[3] -- zset  id -> due (ms)
local tasks = KEYS[4] -- hash  records and control fields
local expiry = KEYS[5] -- zset  id -> when its record goes away (ms)
local dead = KEYS[6] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local items = ARGV -- then for each: id, lease number, token, outcome, ms, count ('1' or '0'), text
-- outcome: 'complete', 'reject', 'requeue' (ms: delay) or 'extend' (ms: lease; empty: the task's own)
-- Returns {'ok', then for each: {state, 'lost' or 'newer', reason, deadline or due (ms; 0: none), 1 if
--          to be cancelled}}

local STRIDE = 7
local now = clock(test_now)
local count = (#items - 1) / STRIDE

local function item(i)
  return unpack(items, (i - 1) * STRIDE + 2, i * STRIDE + 1)
end

local names, extended = {}, {}
for i = 1, count do
  local id, _, _, outcome = item(i)
  names[i] = '.' .. id
  if outcome == 'extend' then
    extended[#extended + 1] = id
  end
end
local records = read('HMGET', tasks, names)
local deadlines = {} -- id -> current deadline, of those to extend
for i, deadline in ipairs(read('ZMSCORE', working, extended)) do
  deadlines[extended[i]] = tonumber(deadline or 0)
end
local plan = new_plan()
local longer = {} -- id -> later deadline
local open = {} -- id -> task as this call leaves it

-- Where an outcome takes a task whose lease is current: state, reason, due.
local function destination(task, outcome, ms)
  if outcome == 'complete' then
    return 'completed', '', 0
  elseif task.f then
    return 'rejected', 'cancelled', 0
  elseif outcome == 'reject' then
    return 'rejected', 'rejected', 0
  elseif exhausted(task) then
    return 'rejected', 'attempts_exhausted', 0
  elseif tonumber(ms) > 0 then
    return 'delayed', '', now + tonumber(ms)
  end
  return 'pending', '', 0
end

-- Ends the lease. Returns the item's part of the reply.
local function leave(id, task, old_text, outcome, ms, counted, text, receipt)
  if outcome == 'requeue' and counted == '0' then
    add(task, 'c', -1)
  end
  local state, reason, due = destination(task, outcome, ms)
  local flag = task.f and 1 or 0
  text = (text ~= '' or outcome == 'complete') and text or old_text
  -- What a resend of this settlement is answered with.
  task.p = table.concat({ receipt, state, reason, int(due), int(flag) }, ',')
  plan.leave[#plan.leave + 1] = id
  longer[id] = nil
  if state == 'completed' or state == 'rejected' then
    finish(plan, id, task, text, now, state, reason)
  else
    -- Its function lives: it may travel in full company again.
    task.u, task.x = int(now), nil
    wait_again(plan, id, task, text)
    if state == 'delayed' then
      append(plan.later, int(due), id)
    else
      plan.back[#plan.back + 1] = id
    end
  end
  return { state, reason, due, flag }
end

-- The later of the current deadline and now + lease.
local function extend(id, task, ms)
  local deadline = now + tonumber(ms ~= '' and ms or task.l ~= '' and task.l or 0)
  longer[id] = math.max(longer[id] or deadlines[id], deadline)
  return { 'working', '', longer[id], task.f and 1 or 0 }
end

-- The answer that an earlier copy of this settlement got.
local function answer_again(task, receipt)
  local prefix = receipt .. ','
  if task.p and string.sub(task.p, 1, #prefix) == prefix then
    local state, reason, due, flag =
      string.match(string.sub(task.p, #prefix + 1), '^(%a*),([%a_]*),(%d*),(%d)$')
    return { state, reason, tonumber(due), tonumber(flag) }
  end
  return { 'lost', '', 0, 0 }
end

local function write_deadlines()
  local scores = {}
  for id, deadline in pairs(longer) do
    append(scores, int(deadline), id)
  end
  for first = 1, #scores, SLICE do
    local last = math.min(first + SLICE - 1, #scores)
    local added = redis.pcall('ZADD', working, unpack(scores, first, last))
    if type(added) == 'table' and added.err then
      -- As in `store`; here nothing grows at all.
      redis.call('HDEL', tasks, '')
      redis.call('ZADD', working, unpack(scores, first, last))
    end
  end
end

local reply = { 'ok' }
for i = 1, count do
  local id, lease, token, outcome, ms, counted, text = item(i)
  if not open[id] then
    local task, old_text = parse(records[i])
    open[id] = { task = task, text = old_text }
  end
  local task = open[id].task
  local receipt = lease .. ',' .. token .. ',' .. outcome
  if newer(records[i]) then
    reply[i + 1] = { 'newer', '', 0, 0 }
  elseif task.s ~= 'w' or task.n ~= lease or task.k ~= token then
    reply[i + 1] = answer_again(task, receipt)
  elseif outcome == 'extend' then
    reply[i + 1] = extend(id, task, ms)
  else
    reply[i + 1] = leave(id, task, open[id].text, outcome, ms, counted, text, receipt)
  end
  if #plan.leave == PLAN or i == count then
    local failed = commit(plan, now, pending, working, delayed, tasks, expiry, dead)
    if failed then
      return failed
    end
    plan = new_plan()
  end
end
write_deadlines()
return reply
