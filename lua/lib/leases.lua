-- leases: leases the tasks of a batch to the caller of a dequeue.

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
    task.leased_for = lease_of(entry.fixed, call.lease)
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
