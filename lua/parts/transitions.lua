-- transitions: the changes of state that several scripts make, added to a plan.

-- How many leases one plan may end: no command of `commit` then has more than SLICE arguments. As many leases
-- one call reclaims, and as many tasks it promotes to `fair`: more would keep Redis busy for too long.
local MAX_PLAN_LEASES = 160

-- Adds the end of an attempt to the errors of its task.
-- short: the error or its short form; without one the reason given to `revoke`, if any.
local function note_error(task, now, short)
  local ERRORS = 16 -- a record keeps this many
  local BYTES = 1800 -- the most of each
  local entry = task.attempts .. ' ' .. since_enqueue(task.enqueued_at, now)
  if short then
    local text = #short > BYTES and 'j""' or string.gsub(short, '[\n\t]', ' ')
    entry = entry .. ' ' .. string.gsub(string.gsub(text, '%%', '%%25'), ';', '%%3B')
  end
  local errors, count, tab = task.errors, 0, 0
  if not errors then
    task.errors = entry
    return
  end
  repeat
    count = count + 1
    tab = string.find(errors, '\t', tab + 1, true)
  until not tab
  if count >= ERRORS then
    errors = string.match(errors, '^[^\t]*\t(.*)$')
  end
  task.errors = errors .. '\t' .. entry
end

-- The member of `worker-leases` for a lease. Members sort by worker, then by lease number.
local function worker_lease(worker, lease, id)
  return worker .. ' ' .. string.format('%015.0f', tonumber(lease)) .. ' ' .. id
end

-- Adds the end of a lease to a plan.
local function end_lease(plan, id, task)
  plan_write(plan, 'ZREM working', id)
  if task.worker then
    plan_write(plan, 'ZREM worker_leases', worker_lease(task.worker, task.lease_number, id))
  end
  if grouped(task) then
    local group = group_of(plan, task)
    group.working = math.max(0, group.working - 1)
  end
end

-- The score in `delayed` of a task. Half a millisecond marks a task that goes to `fair`, so that a promotion
-- does not read the records of others.
local function score_when_due(task, due)
  return int(due) .. (grouped(task) and '.5' or '')
end

-- Adds to a plan that a task waits again: ready at `place`, or delayed until `due`.
local function wait_again(plan, id, task, text, place, due)
  task.state, task.lease_token, task.leased_for, task.progress_calls = STATE.waiting, '', '', nil
  transition(task, due and 'delayed' or 'pending', plan.now)
  if due then
    plan_write(plan, 'ZADD delayed', score_when_due(task, due), id)
    task.fair_score = nil
  else
    make_ready(plan, id, task, place)
  end
  plan_write(plan, 'HSET tasks', '.' .. id, format(task, text))
end

-- Adds the end of a task to a plan. What is kept of it, and for how long, was fixed at enqueue or is given. A
-- cancelled task keeps only its tombstone.
local function end_task(plan, id, task, text, state, reason, given)
  local ttl = 0
  if state == 'completed' then
    ttl = tonumber(given or task.result_ttl or DEFAULT_RESULT_TTL)
  elseif reason ~= 'cancelled' then
    ttl = tonumber(given or task.dead_ttl or DEFAULT_DEAD_TTL)
  end
  task.state = state == 'completed' and STATE.completed or STATE.rejected
  task.lease_token, task.leased_for = '', ''
  transition(task, state, plan.now)
  task.reason = reason ~= '' and reason or nil
  task.ended_at = int(plan.now)
  task.cancel_requested, task.fair_score, task.progress, task.progress_calls = nil, nil, nil, nil
  if state == 'rejected' and ttl > 0 then
    plan_write(plan, 'ZADD dead', task.ended_at, id)
  else
    task.max_attempts, task.result_ttl, task.dead_ttl = nil, nil, nil
    plan_write(plan, 'HSET tasks', id, '')
  end
  if ttl == 0 then
    task.errors = nil
  end
  plan_write(plan, 'HSET tasks', '.' .. id, format(task, ttl > 0 and text or ''))
  plan_write(plan, 'ZADD expiry', int(plan.now + math.max(ttl, RESEND_WINDOW)), id)
  note_event(plan, reason == 'cancelled' and reason or state, id)
  if reason ~= 'cancelled' then
    note_number(plan, 'attempts', tonumber(task.attempts))
  end
end

-- Moves deadlines of leases, never to an earlier time. deadlines: id -> ms.
local function put_deadlines(keys, deadlines)
  local scores = {}
  -- In any order: the zset sorts them.
  for id, deadline in pairs(deadlines) do
    append(scores, int(deadline), id)
  end
  for first = 1, #scores, SLICE do
    local last = math.min(first + SLICE - 1, #scores)
    if error_of(redis.pcall('ZADD', keys.working, 'GT', unpack(scores, first, last))) then
      -- As in `store_fields`: the first write removes a field that does not exist. Nothing grows here.
      redis.call('HDEL', keys.tasks, '')
      redis.call('ZADD', keys.working, 'GT', unpack(scores, first, last))
    end
  end
end

-- working -> pending (at the front, the first id foremost), fair, limited or rejected. (I5 I8)
-- is_current: returns true if the caller may still end the lease of a task. dead_letters: a list, to which
-- the id and the attempts of each new dead letter are added. reason: of an
-- operator who ends the leases; nothing if they expired or their worker went silent.
-- Returns how many wait again, how many ended, how many stay because a later release wrote them; and the
-- error if Redis has no room.
local function revoke(keys, ids, now, is_current, dead_letters, reason)
  local waiting, ended, left = 0, 0, 0
  -- The last slice first, as each one goes to the front.
  for last = #ids, 1, -MAX_PLAN_LEASES do
    local first = math.max(last - MAX_PLAN_LEASES + 1, 1)
    local names = { '~set', '~stats' }
    for i = first, last do
      append(names, '.' .. ids[i])
    end
    local records = redis.call('HMGET', keys.tasks, unpack(names))
    local plan = new_plan(keys, now)
    if read_settings(plan, records[1], records[2]) then
      return waiting, ended, left + last, nil
    end
    local tasks, texts = {}, {}
    for i = first, last do
      tasks[i], texts[i] = parse_with('', records[i - first + 3])
    end
    open_groups(plan, { unpack(tasks, first, last) })
    for i = first, last do
      local id, task = ids[i], tasks[i]
      if newer(records[i - first + 3]) then
        left = left + 1
      elseif is_current(task, id) then
        end_lease(plan, id, task)
        add(task, 'expired_leases', 1)
        note_error(task, now, reason)
        note_event(plan, 'reclaimed', id)
        if reason then
          note_number(plan, 'taken', 1)
        end
        note_detail(plan, 'reclaimed', task, 0, '', '')
        if task.cancel_requested then
          end_task(plan, id, task, texts[i], 'rejected', 'cancelled')
        elseif exhausted(task) then
          task.is_dead_letter = true
          end_task(plan, id, task, texts[i], 'rejected', reason or 'lease_expired')
          note_detail(plan, 'rejected', task, 0, task.reason, '')
        else
          wait_again(plan, id, task, texts[i], 'front')
        end
      end
    end
    admit_limited(plan)
    local ended_here = planned_count(plan, 'ZADD expiry') / 2
    local failed = commit(plan)
    if failed then
      return waiting, ended, left, failed
    end
    waiting = waiting + planned_count(plan, 'ZREM working') - ended_here
    ended = ended + ended_here
    for i = first, last do
      if tasks[i].is_dead_letter then
        append(dead_letters, ids[i], tonumber(tasks[i].attempts))
      end
    end
  end
  return waiting, ended, left, nil
end

-- reclaim: working with an expired lease -> pending, at the front, or rejected. (I5 I6 I8)
-- Returns what `revoke` returns, and true if more leases may have expired that the next call can reclaim.
local function reclaim(keys, now, limit, dead_letters)
  local most = math.min(limit, MAX_PLAN_LEASES)
  local ids = redis.call('ZRANGE', keys.working, '-inf', int(now), 'BYSCORE', 'LIMIT', '0', int(most))
  local waiting, ended, left, failed = revoke(keys, ids, now, function()
    return true
  end, dead_letters)
  return waiting, ended, left, failed, #ids == most and waiting + ended > 0
end
