-- batch: the tasks that one dequeue selects from those that it has taken off, and leases; and how a copy of
-- it gets the same ones.

-- max: how many were asked for; bytes: the limit of the bytes of their records.
local function new_batch(max, bytes)
  local batch = { max = max, most = max, most_bytes = bytes, bytes = 0, work = 0, entries = {} }
  batch.ghosts, batch.broken, batch.ghost_entries = 0, 0, {} -- ghost_entries: those that lost a ghost
  return batch
end

-- The entry of an id. If an id comes twice, the second has the entry as the first left it.
local function entry_of(batch, id, fixed, record)
  if not batch.entries[id] then
    local task, text = parse_with(fixed or '', record)
    batch.entries[id] = { id = id, fixed = fixed, record = record, task = task, text = text }
  end
  return batch.entries[id]
end

-- True for an entry that is not deliverable: a ghost, or an id without a valid record. It is counted.
local function skip_undeliverable(batch, entry, place)
  local task = entry.task
  if tonumber(task.ghosts or 0) > 0 and in_list(place) then
    add(task, 'ghosts', -1)
    task.ghosts = task.ghosts ~= '0' and task.ghosts or nil
    batch.ghosts = batch.ghosts + 1
    if not entry.changed then
      entry.changed = true
      batch.ghost_entries[#batch.ghost_entries + 1] = entry
    end
    return true
  end
  if task.state ~= STATE.waiting or not has_payload(entry.fixed) then
    batch.broken = batch.broken + 1
    return true
  end
  return false
end

-- Moves a task to `limited` if its group is at its limit. Returns true if so.
local function move_if_limited(plan, entry, place)
  local task = entry.task
  if in_list(place) or not grouped(task) then
    return false
  end
  local group = group_of(plan, task)
  if deliverable(group, plan.now) < 1 then
    take_turn(plan, task, place.score, entry.id)
    make_ready(plan, entry.id, task, 'aside')
    return true
  end
  return false
end

-- Adds a task to the batch. Returns false if the batch must end before it.
local function add_to_batch(batch, entry)
  -- More work would keep Redis busy for too long. A task that was leased before is two: it has a history.
  local MOST_WORK = 1000
  -- A task whose lease expired k times travels in a batch of at most max / 10^k tasks, so that a task that
  -- crashes its consumer does not take others along.
  local task, most = entry.task, batch.most
  if task.expired_leases then
    most = math.min(most, math.max(1, math.floor(batch.max / 10 ^ tonumber(task.expired_leases))))
  end
  local size, work = batch.bytes + #entry.fixed, batch.work + (entry.record and 2 or 1)
  if #batch >= most or (#batch > 0 and (size > batch.most_bytes or work > MOST_WORK)) then
    return false
  end
  batch.most, batch.bytes, batch.work = most, size, work
  batch[#batch + 1] = entry
  task.state = STATE.working
  return true
end

-- Reads the control fields, and the records of some of the taken entries. What was read before is not read
-- again.
local function read_taken(taken, slot, first, last)
  local found = taken.reads and table.remove(taken.reads, 1)
  if not found or error_of(found) then
    local ids = {}
    for i = first, last do
      ids[i] = taken[i].id
    end
    found = read_waiting(taken.keys.tasks, slot, ids, first, last)
  end
  return error_of(found) and error(found) or found
end

-- Selects from the taken entries from first to last. Returns true if the batch ends before `last`; or the
-- reply, if the batch is empty and a later release wrote the next task.
local function select_tasks(plan, taken, batch, first, last, found)
  local known, first_newer = {}, nil
  for i = first, last do
    local fixed, record = found[CONTROL + 2 * (i - first) + 1], found[CONTROL + 2 * (i - first) + 2]
    if newer(fixed) or newer(record) then
      first_newer = i
      break
    end
    known[#known + 1] = entry_of(batch, taken[i].id, fixed, record).task
  end
  open_groups(plan, known)
  for i = first, first_newer and first_newer - 1 or last do
    local place = taken[i]
    local entry = batch.entries[place.id]
    if plan.bound and tonumber(place.score) >= plan.bound then
      put_back(taken, i)
      return true
    end
    if skip_undeliverable(batch, entry, place) then
      if place.listed then
        taken.list_refund = taken.list_refund + SHARE
      elseif place.score and grouped(entry.task) then
        take_turn(plan, entry.task, place.score, entry.id)
      end
    elseif not move_if_limited(plan, entry, place) then
      if not add_to_batch(batch, entry) then
        put_back(taken, i)
        return true
      end
      if taken.times then
        note_delivery(plan, entry.id, entry.task, place)
      end
    end
  end
  if first_newer then
    put_back(taken, #batch > 0 and first_newer or 1)
    return #batch > 0 or { 'newer_schema' }
  end
end

-- Drops the ghosts that were taken off, and counts the broken entries.
local function write_skipped(batch, tasks)
  local fields, removed = {}, {}
  for _, entry in ipairs(batch.ghost_entries) do
    if not entry.written then
      -- The record as it was, with fewer ghosts: nothing here may need memory.
      local name, left = '.' .. entry.id, entry.task.ghosts
      local version, enqueued_at, state = string.match(entry.record, '^1;(%d+);(%d*);%d+;%d+;(%a?)')
      if left or enqueued_at ~= '' or (state ~= STATE.ghost and version ~= '1') then
        local record = string.gsub(entry.record, ';g=%d+', left and ';g=' .. left or '', 1)
        append(fields, name, record)
      else
        append(removed, name, state == STATE.ghost and entry.id or nil)
      end
    end
  end
  write('HDEL', tasks, removed)
  write('HSET', tasks, fields)
  if batch.ghosts > 0 then
    redis.call('HINCRBY', tasks, '~dropped', int(batch.ghosts))
  end
  if batch.broken > 0 then
    redis.call('HINCRBY', tasks, '~broken', int(batch.broken))
  end
end

-- How many leases one slice gives: no command then has more than SLICE arguments. A dequeue from `fair` takes
-- fewer tasks, so all that `put_back_unleased` puts back belongs to the list.
local LEASES = 490

-- Leases the tasks of a batch from first to last. If Redis has no room it leases none of them, and returns
-- the error.
local function lease_slice(plan, batch, call, first, last)
  local ids, deadlines, members = {}, {}, {}
  for i = first, last do
    local entry = batch[i]
    local task = entry.task
    transition(task, 'working', plan.now)
    add(task, 'attempts', 1)
    add(task, 'charged', 1)
    task.lease_number, task.lease_token, task.dequeued_at = int(call.counter + i), call.token, int(plan.now)
    task.worker = call.worker
    -- Of the fixed record, its first line or its letters, if it has a lease.
    task.leased_for = string.match(entry.fixed, '^[^\n]*;l=(%d+)') or call.lease
    entry.deadline, entry.written = plan.now + tonumber(task.leased_for), true
    ids[#ids + 1] = entry.id
    append(deadlines, int(entry.deadline), entry.id)
    plan_write(plan, 'HSET tasks', '.' .. entry.id, format(task, entry.text))
    append(
      members,
      call.worker and '0',
      call.worker and worker_lease(call.worker, task.lease_number, entry.id)
    )
  end
  local failed = error_of(redis.pcall('ZADD', plan.keys.working, unpack(deadlines)))
  if failed then
    return failed
  end
  failed = store_fields(plan.keys.tasks, planned_writes(plan, 'HSET tasks'))
  if failed then
    redis.call('ZREM', plan.keys.working, unpack(ids))
  else
    write('ZADD', plan.keys.worker_leases, members)
  end
  return failed
end

-- Puts back the tasks that could not be leased, from the given one on.
local function put_back_unleased(taken, batch, first)
  for i = #batch, first, -1 do
    local entry = batch[i]
    redis.call('RPUSH', taken.keys.pending, entry.id)
    local ghosts_left = entry.task.ghosts
    entry.task, entry.text = parse_with(entry.fixed, entry.record)
    entry.task.ghosts, entry.written, batch[i] = ghosts_left, nil, nil
  end
  taken.drained = false
end

-- Leases the batch, as far as Redis has room. Returns the error if there is room for none.
local function lease_all(plan, taken, batch, call)
  local names = { call.token }
  for i, entry in ipairs(batch) do
    names[i + 1] = entry.id
    note_event(plan, 'dequeued', entry.id)
    if tonumber(entry.task.attempts or 0) == 0 then
      note_number(plan, 'w', plan.now - tonumber(entry.task.enqueued_at))
    end
  end
  finish_plan(plan)
  if #batch == 0 then
    return nil
  end
  plan_write(plan, 'HSET tasks', '~lease', int(call.counter + #batch))
  plan_write(plan, 'HSET tasks', call.slot, table.concat(names, ' '))
  if plan.settings.rate then
    local _, _, used = measure_rate(plan.settings.rate, call.used, plan.now, #batch)
    plan_write(plan, 'HSET tasks', '~rate', used)
  end
  for first = 1, #batch, LEASES do
    local last = math.min(first + LEASES - 1, #batch)
    local failed = batch[first] and lease_slice(plan, batch, call, first, last)
    plan.writes['HSET tasks'] = nil
    if failed and first == 1 then
      return failed
    elseif failed then
      put_back_unleased(taken, batch, first)
    end
  end
end

-- The field that remembers the call of a token. Calls for over 100 tasks share 64 fields, others 1,024.
local function slot_of(token, max)
  local a, b, c, d = string.byte(token, -4, -1)
  local hash = ((a * 31 + b) * 31 + c) * 31 + d
  return max > 100 and '~R' .. int(hash % 64) or '~r' .. int(hash % 1024)
end

local function all_slots()
  local slots = {}
  for i = 0, 1023 do
    slots[#slots + 1] = '~r' .. int(i)
  end
  for i = 0, 63 do
    slots[#slots + 1] = '~R' .. int(i)
  end
  return slots
end

local function append_task(reply, id, task, deadline, fixed)
  local delivery = tonumber(task.attempts)
  if tonumber(task.charged) ~= delivery or task.expired_leases then
    delivery = table.concat({ int(task.attempts), int(task.charged), task.expired_leases or '0' }, ',')
  end
  append(reply, id, delivery)
  append(reply, tonumber(task.lease_number), deadline)
  reply[#reply + 1] = fixed
end

-- The reply to a copy of a call that has run already: the tasks that are still leased under its token.
local function still_leased(keys, now, token, leased)
  local ids, fields = {}, {}
  for id in string.gmatch(leased, '%S+') do
    ids[#ids + 1] = id
    append(fields, id, '.' .. id)
  end
  local found = read('HMGET', keys.tasks, fields)
  local deadlines = read('ZMSCORE', keys.working, ids)
  local reply = { 'ok', now }
  for i, id in ipairs(ids) do
    local task = parse(found[2 * i])
    if task.state == STATE.working and task.lease_token == token then
      append_task(reply, id, task, tonumber(deadlines[i] or 0), found[2 * i - 1])
    end
  end
  return reply
end
