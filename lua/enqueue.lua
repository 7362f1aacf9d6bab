-- enqueue: nothing -> pending | delayed. A known id changes nothing. (I1 I3 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local held = KEYS[3] -- zset  id -> place behind its group's limit
local delayed = KEYS[4] -- zset  id -> due (ms)
local tasks = KEYS[5] -- hash  records and control fields
local expiry = KEYS[6] -- zset  id -> when its record goes away (ms)
local dead = KEYS[7] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local look = ARGV[2] -- '1' to read the queue's settings even for one plain task; empty: as it comes
local new = ARGV -- then for each task: id, when ('' now, '+ms' later, 'ms' at), unique, record from its options on
-- unique: '', 'again' for an id that may be that of an ended task, or '<window, ms> <key>' for one of its kind
-- Returns {'ok', 1 where producers should look, 0 where not, -1 where this call did not, then for each task:
--          1 or 0: created by this call or by an earlier copy of it, or the id that its key stands for}
--      or {'full'} | {'newer_schema'}

local STRIDE = 4
local at = {
  pending = pending,
  fair = fair,
  held = held,
  delayed = delayed,
  tasks = tasks,
  expiry = expiry,
  dead = dead,
}
local plan = new_plan(at, clock(test_now))
local now_text = int(plan.now)
local count = (#new - 2) / STRIDE
local ids, records, options, keys = {}, {}, {}, {}
local plain = look ~= '1'
for i = 1, count do
  local id, _, unique, record = unpack(new, STRIDE * i - 1, STRIDE * i + 2)
  ids[i], records[i] = id, '1;' .. now_text .. record
  options[i] = parse_fixed(records[i])
  keys[i] = string.match(unique, '^%d+ (.*)$')
  plain = plain and unique == '' and not shared(options[i])
end

-- name -> what stands in its field: of a fixed record only the first line, for payloads are long.
local stored = {}

local function read_all(names)
  for first = 1, #names, 128 do
    local last = math.min(first + 127, #names)
    for i, value in ipairs(redis.call('HMGET', tasks, unpack(names, first, last))) do
      stored[names[first + i - 1]] = value and string.match(value, '^[^\n]*\n?')
    end
  end
end

if plain and count == 1 then
  -- Test and write in one command. A full Redis refuses to test too, but not to read.
  local reply = redis.pcall('HSETNX', tasks, ids[1], records[1])
  local fixed = reply ~= 1 and redis.call('HGET', tasks, ids[1])
  if reply ~= 1 and reply ~= 0 and not fixed then
    return reply
  end
  stored[ids[1]] = fixed and string.match(fixed, '^[^\n]*\n?')
else
  local names = { '~set', '~stats' }
  for i = 1, count do
    names[#names + 1] = ids[i]
    names[#names + 1] = keys[i] and '~d:' .. keys[i]
  end
  read_all(names)
  if heed(plan, stored['~set'], stored['~stats']) then
    return { 'newer_schema' }
  end
  plain = false
  open_groups(plan, options)
end

-- True where this call, or an earlier copy of it, made the task; false where another did; nothing where the id is
-- free: then with what is left of its last life.
local function known(i)
  local id, fixed = ids[i], stored[ids[i]]
  local own = options[i].t
  if not fixed then
    return nil
  end
  local again = new[STRIDE * i + 1] == 'again'
  if fixed ~= '' and not again then
    return parse_fixed(fixed).t == own
  end
  local record = redis.call('HGET', tasks, '.' .. id)
  local task = parse(record)
  stored['.' .. id] = record
  if newer(record) then
    stored[id] = record
  elseif task.s == 'g' then
    return nil, task
  elseif fixed ~= '' and task.s ~= 'r' then
    return parse_fixed(fixed).t == own
  elseif again and task.t ~= own then
    plan.ended[#plan.ended + 1] = id
    stored[id] = redis.call('HGET', tasks, id)
    return nil, task
  end
  return task.t == own
end

-- Adds the beginning of a life to the plan. old: what is left of the last one.
local function begin(i, old)
  local id, when = ids[i], new[STRIDE * i]
  local due = tonumber(when ~= '' and when or 0)
  if string.sub(when, 1, 1) == '+' then
    due = plan.now + due
  end
  local later = due > plan.now
  if old or not plain then
    append(plan.fields, id, records[i])
  end
  if later then
    append(plan.later, int(due) .. (shared(options[i]) and '.5' or ''), id)
  elseif old and tonumber(old.g or 0) > 0 and not shared(options[i]) then
    -- The entry that a cancelled life left in the list is this task's place.
    add(old, 'g', -1)
    plan.ghosts = plan.ghosts + 1
  else
    enter(plan, id, options[i], 'back')
  end
  local ghosts = old and old.g ~= '0' and old.g or nil
  local version = old and old.s ~= 'g' and int(old.v + 1) or '1'
  local record = (ghosts or version ~= '1') and ghost_record('', ghosts, version)
  if later and shared(options[i]) then
    -- What is promoted is looked up here, without its payload.
    record = format(parse_with(records[i], record or ghost_record('', nil, '1')))
  end
  if record then
    append(plan.fields, '.' .. id, record)
  elseif old then
    plan.gone[#plan.gone + 1] = '.' .. id
  end
  tell(plan, 'enqueued', id)
end

plan.ended, plan.ghosts = {}, 0
local reply, seen = { 'ok', -1 }, {}
for i = 1, count do
  local id, key = ids[i], keys[i]
  local until_at, first = string.match(key and stored['~d:' .. key] or '', '^(%d+) (.*)$')
  if until_at and tonumber(until_at) > plan.now and first ~= id then
    reply[i + 2] = first
  elseif seen[id] then
    reply[i + 2] = 0
  else
    local own, old = known(i)
    if newer(stored[id]) then
      return { 'newer_schema' }
    end
    reply[i + 2] = own == false and 0 or 1
    if own == nil then
      begin(i, old)
      if key then
        local over = int(plan.now + string.match(new[STRIDE * i + 1], '^%d+'))
        stored['~d:' .. key] = over .. ' ' .. id
        append(plan.fields, '~d:' .. key, stored['~d:' .. key])
        append(plan.expiry, over, '~d:' .. key)
      end
    end
  end
  seen[id] = true
end

local settings = plan.settings
if settings then
  reply[2] = (settings.b or settings.e or settings.s) and 1 or 0
  local coming = #plan.back + (#plan.fair + #plan.held) / 2
  if settings.b and coming > 0 then
    local waiting = redis.call('LLEN', pending) + redis.call('ZCARD', fair) + redis.call('ZCARD', held)
    if waiting + coming > tonumber(settings.b) then
      return { 'full' }
    end
  end
end

-- Payloads first: a full Redis refuses here, and nothing else has been written.
close(plan)
for first = 1, #plan.fields, SLICE do
  local last = math.min(first + SLICE - 1, #plan.fields)
  local answer = redis.pcall('HSET', tasks, unpack(plan.fields, first, last))
  if type(answer) == 'table' and answer.err then
    for i = 1, first - 1, 2 do
      local field = plan.fields[i]
      local before = stored[field] or plan.was[field]
      if before then
        redis.call('HSET', tasks, field, before)
      else
        redis.call('HDEL', tasks, field)
      end
    end
    return answer
  end
end
plan.fields = {}
write('ZREM', expiry, plan.ended)
write('ZREM', dead, plan.ended)
commit(plan)
if plan.ghosts > 0 then
  redis.call('HINCRBY', tasks, '~ghosts', int(-plan.ghosts))
end
return reply
