-- due: what becomes due with time: delayed tasks, expired leases, timers.

-- How long to wait (ms) before the next try, if Redis had no room or a later release wrote the record.
local RETRY = 60000

-- Returns when the first member of `delayed` is due, and when to ask again (nil: not known).
-- deadline: of the first lease (nil: there is none). Without a lease the second result ignores the timer for
-- silent workers.
local function upcoming(delayed, deadline)
  local first = redis.call('ZRANGE', delayed, '0', '1', 'WITHSCORES')
  local due = first[2] and math.floor(tonumber(finite(first[2])))
  local wake = (first[1] ~= '~w' or deadline) and due or (first[4] and math.floor(tonumber(finite(first[4]))))
  return due, wake and math.min(wake, deadline or wake) or deadline
end

-- Returns how many tasks are blocked, and how many members of `delayed` are never due. A layer knows them.
local function count_blocked()
  return 0, 0
end

-- Returns whether delayed tasks are due and leases expired, the deadline of the first lease, and when the
-- next of them will be due (ms; 0: not known). time: called only if there are delayed tasks or leases; gives
-- a number, or its text.
local function look_ahead(working, delayed, time)
  local deadline = lowest_score(working)
  local due, next_due = upcoming(delayed, deadline)
  local now = (due or deadline) and tonumber(time())
  local is_due, expired = due and due <= now, deadline and deadline <= now
  return { due = is_due, expired = expired, deadline = deadline, next_due = next_due or 0 }
end

-- Returns true if nothing is due, and the result of `look_ahead`; neither if Redis refuses to read.
local function nothing_due(working, delayed, time)
  local fine, ahead = pcall(look_ahead, working, delayed, time)
  local found = fine and ahead or nil
  return found and not (found.due or found.expired), found
end

-- Runs due timers: for a group that has room again, and for silent workers. Returns what
-- `fail_silent_workers` does.
local function run_timers(keys, timers, now, dead_letters)
  redis.call('ZREM', keys.delayed, unpack(timers))
  redis.call('HINCRBY', keys.tasks, '~elapsed', int(#timers))
  local plan, groups, alarm = new_plan(keys, now), {}, false
  for _, timer in ipairs(timers) do
    if string.sub(timer, 2, 2) == 'g' then
      groups[#groups + 1] = { group = string.sub(timer, 4) }
    else
      alarm = true
    end
  end
  open_groups(plan, groups)
  for _, task in ipairs(groups) do
    group_of(plan, task)
  end
  admit_limited(plan)
  if commit(plan) then
    local again = new_plan(keys, now)
    for _, task in ipairs(groups) do
      plan_write(again, 'timers', int(now + RETRY), '~g:' .. task.group)
    end
    commit(again)
  end
  if alarm then
    return fail_silent_workers(keys, now, dead_letters)
  end
  return 0, 0, false
end

-- After the clock has jumped back, timers of groups with limited tasks are due much too late. Resets them for
-- 32 groups a call, and records in `~fair` where the next call continues. times: the parsed `~fair`.
local function reset_timers(keys, now, times)
  local plan, ids, names, from = new_plan(keys, now), {}, {}, times.reset_from or 0
  while from and #ids < 32 do
    local least = int(from * LIMITED_GROUP)
    local first =
      redis.call('ZRANGE', keys.limited, least, '+inf', 'BYSCORE', 'LIMIT', '0', '1', 'WITHSCORES')
    if first[1] then
      ids[#ids + 1] = first[1]
      append(names, first[1], '.' .. first[1])
      from = math.floor(tonumber(first[2]) / LIMITED_GROUP) + 1
    else
      from = nil
    end
  end
  local lines, tasks = read_first_lines(keys.tasks, names), {}
  for i, id in ipairs(ids) do
    tasks[i] = parse_with(lines[id] or '', lines['.' .. id])
  end
  times.written_at, times.reset_from = now, from
  plan.times, plan.fair_changed = times, true
  open_groups(plan, tasks)
  for _, task in ipairs(tasks) do
    if grouped(task) then
      group_of(plan, task)
    end
  end
  admit_limited(plan)
  commit(plan)
end

-- Promotes due tasks that go to `fair` or `limited`, at most MAX_PLAN_LEASES.
local function promote_grouped(keys, ids, now)
  if #ids == 0 then
    return
  end
  local names = {}
  for i, id in ipairs(ids) do
    names[i] = '.' .. id
  end
  local records = redis.call('HMGET', keys.tasks, unpack(names))
  local plan, tasks = new_plan(keys, now), {}
  for i = 1, #ids do
    tasks[i] = parse(records[i])
  end
  open_groups(plan, tasks)
  for i, task in ipairs(tasks) do
    if newer(records[i]) then
      -- Only that release can promote the task. Until then it is due again and again.
      plan_write(plan, 'ZADD delayed', int(now + RETRY) .. '.5', ids[i])
    else
      make_ready(plan, ids[i], task, 'back')
    end
  end
  if commit(plan) then
    for _, id in ipairs(ids) do
      redis.call('ZADD', keys.delayed, int(now + RETRY) .. '.5', id)
    end
  end
end

-- What is due: `promoted`, the ids of tasks; of these `plain` go to the list, and `fair` to `fair` or
-- `limited`; `timers`; and `more`, true if more is due.
local function read_due(keys, now, limit)
  -- Due timers do not count towards the limit.
  local TIMERS = 100 -- at most, in one call
  local latest, most = int(now) .. '.5', int(limit + TIMERS)
  local found =
    redis.call('ZRANGE', keys.delayed, '-inf', latest, 'BYSCORE', 'LIMIT', '0', most, 'WITHSCORES')
  local due = { promoted = {}, plain = {}, fair = {}, timers = {}, more = #found == 2 * (limit + TIMERS) }
  for i = 1, #found, 2 do
    local id, ids = found[i], due.plain
    if string.sub(id, 1, 1) == '~' then
      ids = due.timers
    elseif string.sub(found[i + 1], -2) == '.5' then
      ids = due.fair
    end
    if ids == due.timers and #ids < TIMERS then
      ids[#ids + 1] = id
    elseif ids ~= due.timers and #due.promoted < limit and #due.fair < MAX_PLAN_LEASES then
      append(due.promoted, id)
      ids[#ids + 1] = id
    else
      due.more = true
    end
  end
  return due
end

-- promote: delayed -> pending, at the back, in the order in which they became due. (I6 I8)
-- due: the result of `read_due`. first: the first id of `plain` that goes to the list; the caller takes those
-- before it. dead_letters: as in `revoke`.
-- Returns four values: how many became due; of the tasks of silent workers, how many wait again and how many
-- ended; and true if more is due.
local function promote(keys, now, due, first, dead_letters)
  write('ZREM', keys.delayed, due.promoted)
  for from = first, #due.plain, SLICE do
    redis.call('LPUSH', keys.pending, unpack(due.plain, from, math.min(from + SLICE - 1, #due.plain)))
  end
  promote_grouped(keys, due.fair, now)
  if #due.timers == 0 then
    return #due.promoted, 0, 0, due.more
  end
  local waiting, ended, unfinished = run_timers(keys, due.timers, now, dead_letters)
  return #due.promoted, waiting, ended, unfinished or due.more
end
