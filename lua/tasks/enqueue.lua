-- enqueue: nothing -> pending | delayed. A known id changes nothing. (I1 I3 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[8] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local with_settings = ARGV[2] -- '1' to read the queue's settings for one plain task too; '': only for others
local wake = ARGV[3] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local refuse_each = ARGV[4] -- '1' if the tasks are of several calls: each is refused alone; '': all or none
local slots = ARGV[5] -- '<version of the map>:<slots>' that this partition must own, with commas between;
-- '-': none; '': the queue has no partitions; '?' asks what a partition knows that owned the slots once. It
-- adds nothing, but a dead letter may begin a new life. Another ended task that is to begin one is forgotten
local new = ARGV -- then for each task: id, when ('' now, '+ms' later, 'ms' at), unique, record from options
-- unique: '', 'again' for an id whose last task may have ended, or '<window, ms> <dedup key>'
-- Returns {'ok', 1 if producers should set with_settings, 0 if not, -1 if this call has not read settings,
--          1 if the caller must wake a consumer, then for each task:
--          1 if this call or an earlier copy of it created it, else 0, or the id that has its dedup key;
--          for tasks of several calls also why it is refused: 'full', 'reused' or 'newer_schema', each
--          after a space; with slots '?' for a task that is not known ' free'}
--      or {'full'} | {'newer_schema'}
--      or {'reused'}: another call with the same idempotency key made one of the tasks
--      or {'moved'}: the partition does not own all slots, or knows a later map

local STRIDE = 4
-- How many arguments are in front of the tasks.
local FRONT = 5
-- How many tasks a plain enqueue adds at most: no command then has more than SLICE arguments.
local PLAIN_TASKS = 490
local CONTROL_FIELDS = { '~set', '~stats', '~ghosts', '~dropped', '~wake', '~slots' }
local now_text = clock_text(test_now)
local count = (#new - FRONT) / STRIDE

-- True for a task without group and priority. record: its fixed record, from the letters on.
local function stands_in_list(record)
  return string.byte(record, 1, 1) == 10 or not string.find(record, '^[^\n]*;[GP]=')
end

local front = '1;' .. now_text
-- ids: of the tasks. fields: ids and fixed records. made: the reply of HSETNX, which tests and writes a lone
-- plain task. stored: field -> its value, of a fixed record only the first line.
local ids, fields, made, stored = {}, {}, nil, nil

-- A lone plain task without a slot is written without a look at the control fields.
local bare = with_settings ~= '1' and (slots == '' or slots == '-')
if count == 1 and bare and new[8] == '' and stands_in_list(new[9]) then
  ids[1], fields[1], fields[2] = new[6], new[6], front .. new[9]
  -- A full Redis refuses this even if the id is known, but it does not refuse to read.
  made = redis.pcall('HSETNX', tasks, ids[1], fields[2])
  if PLAIN and made == 1 and new[7] == '' and wake == '' then
    redis.call('LPUSH', pending, ids[1])
    return { 'ok', -1, 0, 1 }
  end
else
  local names, reply, met = { unpack(CONTROL_FIELDS) }, { 'ok', 0, 0 }, {}
  local plain = PLAIN and wake == '' and slots ~= '?' and count <= PLAIN_TASKS
  for i = 1, count do
    local id, when, unique, record = unpack(new, STRIDE * i + 2, STRIDE * i + FRONT)
    if plain and (when ~= '' or unique ~= '' or met[id] or not stands_in_list(record)) then
      plain = false
    end
    met[id], ids[i], names[#CONTROL_FIELDS + i], reply[i + 3] = true, id, id, 1
    fields[2 * i - 1], fields[2 * i] = id, front .. record
  end
  if plain then
    stored = read_first_lines(tasks, names)
    if slots ~= '' and has_moved(stored['~slots'], slots) then
      return { 'moved' }
    end
    if stored['~set'] then
      plain = false
    end
    for i = 1, count do
      if stored[ids[i]] then
        plain = false
      end
    end
  end
  if plain then
    local added = redis.pcall('HSET', tasks, unpack(fields))
    if type(added) ~= 'number' then
      return added
    end
    redis.call('LPUSH', pending, unpack(ids))
    return reply
  end
end

-- Not plain.
local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry, dead)
local plan, options, dedup_keys = new_plan(keys, tonumber(now_text)), {}, {}
for i = 1, count do
  options[i] = parse_fixed(fields[2 * i])
  dedup_keys[i] = string.match(new[STRIDE * i + 4], '^%d+ (.*)$')
end
local lone = made ~= nil
if lone then
  local fixed = made ~= 1 and redis.call('HGET', tasks, ids[1])
  if made ~= 1 and made ~= 0 and not fixed then
    return made
  end
  stored = { [ids[1]] = fixed and first_line(fixed) or nil }
else
  local names = { unpack(CONTROL_FIELDS) }
  for i, id in ipairs(ids) do
    append(names, id, dedup_keys[i] and '~d:' .. dedup_keys[i])
  end
  if not stored then
    stored = read_first_lines(tasks, names)
  end
  if newer(stored['~slots']) then
    return { 'newer_schema' }
  elseif slots ~= '' and has_moved(stored['~slots'], slots) then
    return { 'moved' }
  end
  if read_settings(plan, stored['~set'], stored['~stats']) then
    return { 'newer_schema' }
  end
end
open_groups(plan, options)

local reused = false -- whether another call with the same idempotency key made the current task

-- True if a token is this call's. Sets `reused` if it is of another call with the same idempotency key.
-- own: this call's token, '<key>.<tasks>' if it has an idempotency key.
local function is_own(token, own)
  local key = string.match(own or '', '^[^.]+%.')
  if token ~= own and key and string.sub(token or '', 1, #key) == key then
    reused = true
  end
  return token == own
end

-- True if this call, or an earlier copy of it, made the task; false if another call did; nil if the id is
-- free. Then the second result is what is left of the id's last life.
local function known(i)
  local id, fixed = ids[i], stored[ids[i]]
  local own = options[i].producer_token
  if not fixed then
    return nil, nil
  end
  local again = new[STRIDE * i + 4] == 'again'
  if fixed ~= '' and not again then
    return is_own(parse_fixed(fixed).producer_token, own), nil
  end
  local record = redis.call('HGET', tasks, '.' .. id)
  local task = parse(record)
  stored['.' .. id] = record
  if newer(record) then
    stored[id] = record
  elseif task.state == STATE.ghost then
    return nil, task
  elseif fixed ~= '' and task.state ~= STATE.rejected then
    return is_own(parse_fixed(fixed).producer_token, own), nil
  elseif again and not is_own(task.producer_token, own) then
    stored[id] = redis.call('HGET', tasks, id)
    return nil, task
  end
  return is_own(task.producer_token, own), nil
end

-- When a task is due (ms).
local function due_of(i)
  local when = new[STRIDE * i + 3]
  local due = tonumber(when ~= '' and when or 0)
  return string.sub(when, 1, 1) == '+' and plan.now + due or due
end

-- Adds to the plan that this partition forgets an ended task: its id begins a new life in another partition.
local function give_up(id, old)
  local left, removed = {}, {}
  old.unique_for = nil
  forget_task(left, removed, id, old, plan.now)
  for _, field in ipairs(removed) do
    plan_write(plan, 'HDEL tasks', field)
  end
  for k = 1, #left, 2 do
    plan_write(plan, 'HSET tasks', left[k], left[k + 1])
  end
  plan_write(plan, 'ZREM expiry', id)
  plan_write(plan, 'ZREM dead', id)
end

-- Adds a new task to the plan. old: what is left of the id's last life.
local function begin(i, old)
  local id, due = ids[i], due_of(i)
  local later = due > plan.now
  if old or not lone then
    plan_write(plan, 'HSET tasks', id, fields[2 * i])
  end
  if old and old.state ~= STATE.ghost then
    plan_write(plan, 'ZREM expiry', id)
    plan_write(plan, 'ZREM dead', id)
  end
  if later then
    plan_write(plan, 'ZADD delayed', score_when_due(options[i], due), id)
  elseif old and tonumber(old.ghosts or 0) > 0 and not grouped(options[i]) then
    -- The ghost of the last life becomes this task's entry in the list.
    add(old, 'ghosts', -1)
    plan.ghosts = plan.ghosts + 1
  else
    make_ready(plan, id, options[i], 'back')
  end
  -- A promotion to `fair` reads the changing record, which has no payload.
  local record = first_record(fields[2 * i], old, later and grouped(options[i]))
  if record then
    plan_write(plan, 'HSET tasks', '.' .. id, record)
  elseif old then
    plan_write(plan, 'HDEL tasks', '.' .. id)
  end
  note_event(plan, 'enqueued', id)
end

-- How many of the tasks so far become pending.
local function coming()
  return planned_count(plan, 'LPUSH pending')
    + plan.ghosts
    + (planned_count(plan, 'ZADD fair') + planned_count(plan, 'ZADD limited')) / 2
end

plan.ghosts = 0
local asks = slots == '?'
local free_places = refuse_each == '1' and places_left(plan.settings, keys, stored)
local due_now, resent = false, false -- whether any task is ready, and whether an earlier copy made any
local reply, seen, fresh = { 'ok', -1, 0 }, {}, {} -- fresh: the values of this call's dedup keys
local made_by = {} -- id -> token of the one of several calls that made it here
for i = 1, count do
  local id, key = ids[i], dedup_keys[i]
  local until_at, first = string.match(key and (fresh[key] or stored['~d:' .. key]) or '', '^(%d+) (.*)$')
  local key_in_use = until_at and tonumber(until_at) > plan.now and first ~= id
  local own, old
  if made_by[id] then
    own = is_own(made_by[id], options[i].producer_token)
  elseif free_places or not seen[id] then
    -- The id is tested before the dedup key, so that a copy gets the same answer after the key's window.
    own, old = known(i)
  end
  -- A dead letter stays where it is, so that it is not lost if the owner does not accept the task.
  local goes = own == nil and asks and not (old and old.state == STATE.rejected)
  local refused = newer(stored[id]) and 'newer_schema' or reused and 'reused'
  if refused and not free_places then
    return { refused }
  elseif not (refused or own ~= nil or goes or key_in_use) and free_places and due_of(i) <= plan.now then
    if coming() >= free_places then
      refused = 'full'
    end
  end
  reused = false
  if refused then
    reply[i + 3] = ' ' .. refused
  elseif seen[id] and not free_places then
    reply[i + 3] = seen[id]
  elseif own == nil and key_in_use then
    reply[i + 3], seen[id] = first, first
  else
    seen[id] = 0
    if own and key then
      fresh[key] = int(plan.now + 1) .. ' ' .. id
    end
    reply[i + 3] = own == false and 0 or 1
    if own ~= false and not goes and due_of(i) <= plan.now then
      due_now = true
    end
    resent = resent or own
    if goes then
      reply[i + 3], seen[id] = ' free', ' free'
      if old and old.state ~= STATE.ghost then
        give_up(id, old)
      end
    elseif own == nil then
      begin(i, old)
      made_by[id] = free_places and (options[i].producer_token or '')
      if key then
        local over = int(plan.now + string.match(new[STRIDE * i + 4], '^%d+'))
        fresh[key] = over .. ' ' .. id
        plan_write(plan, 'HSET tasks', '~d:' .. key, fresh[key])
        plan_write(plan, 'ZADD expiry', over, '~d:' .. key)
      end
    end
  end
end

if plan.settings then
  reply[2] = (plan.settings.max_pending or plan.settings.events or plan.settings.statistics) and 1 or 0
end
if not free_places and exceeds_max_pending(plan.settings, keys, stored, coming()) then
  return { 'full' }
end

-- If an earlier copy made the tasks and recorded a wake, its reply, and with it the wake, may be lost. So
-- this copy asks for a wake again.
if wake ~= '' and due_now then
  local found = lone and redis.call('HMGET', tasks, '~wake', '~set') or { stored['~wake'], stored['~set'] }
  if nobody_awake(found[1], plan.now, resent and 0) and not parse_settings(found[2] or nil).paused then
    local sent = { '~wake', awake_text(plan.now, wake) }
    reply[3] = 1
    if planned_count(plan, 'HSET tasks') > 0 then
      plan_write(plan, 'HSET tasks', unpack(sent))
    elseif store_fields(tasks, sent) then
      -- The tasks are written already, so a full Redis must not refuse them here. The next sweep wakes a
      -- consumer.
      reply[3] = 0
    end
  end
end

finish_plan(plan)
local failed = store_or_undo(plan, stored)
if failed then
  return failed
end
commit(plan)
if plan.ghosts > 0 then
  redis.call('HINCRBY', tasks, '~dropped', int(plan.ghosts))
end
return reply
