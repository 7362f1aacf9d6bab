-- workers: registers workers and their leases. A worker is `<name> <incarnation>`: a restarted process is
-- another worker. The zset `workers` registers it until it is silent; the zset `worker-leases` has its
-- leases.

-- How long (ms) a worker that names no time stays registered after its last sign of life, and how long lists
-- have one that was failed.
local FORGOTTEN_AFTER = 3600000

-- How long (ms) a heartbeat reports to a worker that its tasks were taken from it.
local LOST_FOR = 86400000

-- Adds a sign of life to a plan.
-- info: `<silent after, ms>;<node>;<pid>`, or with `g<gone after, ms>` in front.
-- alarm: when the search for silent workers is due.
local function note_worker(plan, worker, info, alarm)
  local deadline = plan.now + (tonumber((string.match(info, '^g?(%d+)'))) or FORGOTTEN_AFTER)
  plan_write(plan, 'ZADD workers', int(deadline), worker)
  plan_write(plan, 'HSET tasks', '~w:' .. worker, '1;' .. int(plan.now) .. ';' .. info)
  if not alarm or tonumber(alarm) > deadline then
    plan_write(plan, 'HSET tasks', '~alarm', int(deadline))
    plan_write(plan, 'timers', int(deadline), '~w')
  end
end

-- The leases of a worker from a lease number on: members of `worker-leases`.
local function leases_of(keys, worker, from, limit)
  local least, most = '[' .. worker_lease(worker, from, ''), '(' .. worker .. '!'
  return redis.call('ZRANGE', keys.worker_leases, least, most, 'BYLEX', 'LIMIT', '0', int(limit))
end

-- Removes workers from the registry. being_failed: they stay in the zset until they have no leases, so that
-- the next alarm continues.
local function unregister_workers(keys, workers, being_failed)
  local fields = {}
  for i, worker in ipairs(workers) do
    fields[i] = '~w:' .. worker
  end
  write('HDEL', keys.tasks, fields)
  write('ZREM', keys.workers, being_failed and {} or workers)
end

-- The last ten workers of `~lost`, the last one first. A text that was cut ends in what is no worker.
local function lost_workers(text)
  local found, seen = {}, {}
  for worker in string.gmatch(text or '', '[^;]+') do
    append(found, #found < 10 and not seen[worker] and worker or nil)
    seen[worker] = true
  end
  return found
end

-- Records that tasks were taken from workers, and in `~lost` from which last. If Redis has no room for it,
-- they learn it task by task.
local function note_lost_workers(keys, owners, now)
  local lost, fields, ends = sorted_keys(owners), {}, {}
  for _, owner in ipairs(lost) do
    local note = '~f:' .. owner
    append(fields, note, '1;' .. int(now))
    append(ends, int(now + LOST_FOR), note)
  end
  append(lost, redis.call('HGET', keys.tasks, '~lost') or nil)
  append(fields, '~lost', string.sub(table.concat(lost, ';'), 1, 2000))
  pcall(write, 'HSET', keys.tasks, fields)
  write('ZADD', keys.expiry, ends)
end

-- fail_worker: working -> pending (at the front), fair, limited or rejected: the tasks of one worker, or of
-- all incarnations of a name, in the order in which they were taken. (I2 I5 I8)
-- dead_letters, reason: as in `revoke`.
-- Returns what `revoke` returns, and true if tasks are left that the next call can take.
local function fail_worker(keys, worker, now, limit, dead_letters, reason)
  local least, most = '[' .. worker .. ' ', '(' .. worker .. '!'
  -- The last page first, as each one goes to the front.
  local members =
    redis.call('ZRANGE', keys.worker_leases, most, least, 'BYLEX', 'REV', 'LIMIT', '0', int(limit + 1))
  local more = #members > limit
  members[limit + 1] = nil
  local leases, by_id, owners, stale = {}, {}, {}, {}
  for i, member in ipairs(members) do
    local owner, number, id = string.match(member, '^(%S+ %S*) (%d+) (%S+)$')
    leases[i] = { id = id, owner = owner, number = tonumber(number), member = member }
    by_id[id] = leases[i]
  end
  table.sort(leases, function(one, other)
    return one.number < other.number
  end)
  local ids = {}
  for i, lease in ipairs(leases) do
    ids[i] = lease.id
  end
  local waiting, ended, left, failed = revoke(keys, ids, now, function(task, id)
    local lease = by_id[id]
    if
      task.state == STATE.working
      and task.worker == lease.owner
      and tonumber(task.lease_number) == lease.number
    then
      owners[lease.owner] = true
      return true
    end
    append(stale, lease.member)
  end, dead_letters, reason)
  write('ZREM', keys.worker_leases, stale)
  if waiting + ended > 0 then
    note_lost_workers(keys, owners, now)
  end
  return waiting, ended, left, failed, more and waiting + ended + #stale > 0
end

-- Fails silent workers, ten a call; unregisters those that have no silence limit and no tasks; and sets the
-- alarm for the next one. dead_letters: as in `revoke`.
-- Returns how many tasks wait again, how many ended, and true if more is to do.
local function fail_silent_workers(keys, now, dead_letters)
  local silent = redis.call('ZRANGE', keys.workers, '-inf', int(now), 'BYSCORE', 'LIMIT', '0', '10')
  local names, removed, unfinished, staying, waiting, ended = {}, {}, {}, {}, 0, 0
  local came_back = {} -- notes of workers that were failed, have come back, and have ended without tasks
  for _, worker in ipairs(silent) do
    append(names, '~w:' .. worker, '~f:' .. worker)
  end
  local found = read('HMGET', keys.tasks, names)
  for i, worker in ipairs(silent) do
    if waiting + ended == MAX_PLAN_LEASES then
      break
    end
    local info, note = found[2 * i - 1], found[2 * i] and names[2 * i]
    local before, failed, more = waiting + ended, nil, nil
    local listed = info and not string.find(info, '^1;%d+;%d')
    -- A worker without a record is being failed already.
    if not listed then
      local returned, rejected, _
      returned, rejected, _, failed, more =
        fail_worker(keys, worker, now, MAX_PLAN_LEASES - waiting - ended, dead_letters)
      waiting, ended = waiting + returned, ended + rejected
    end
    append(came_back, info and not failed and waiting + ended == before and note or nil)
    if listed and leases_of(keys, worker, '0', 1)[1] then
      -- It leaves the list within a minute of its last task.
      append(staying, int(now + FORGOTTEN_AFTER / 60), worker)
    else
      append((failed or more) and unfinished or removed, worker)
    end
  end
  write('HDEL', keys.tasks, came_back)
  write('ZREM', keys.expiry, came_back)
  write('ZADD', keys.workers, staying)
  unregister_workers(keys, removed)
  unregister_workers(keys, unfinished, true)
  local alarm, plan = lowest_score(keys.workers), new_plan(keys, now)
  if alarm then
    plan_write(plan, 'timers', int(alarm), '~w')
    commit(plan)
    if store_fields(keys.tasks, { '~alarm', int(alarm) }) then
      -- Without the field, the next sign of life sets the timer.
      redis.call('HDEL', keys.tasks, '~alarm')
    end
  else
    redis.call('HDEL', keys.tasks, '~alarm')
  end
  return waiting, ended, alarm and alarm <= now and waiting + ended + #removed + #staying > 0
end
