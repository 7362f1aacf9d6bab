-- _workers: who works on what. A worker is `<name> <incarnation>`: a process that starts anew is
-- another. Registered in the zset `workers`, until it is silent; the zset `hands` has the leases in its
-- hands.

-- How long a worker that is not to be failed stays in the registry after its last sign of life.
local FORGOTTEN_AFTER = 3600000

-- How many silent workers one call looks after.
local WORKERS = 10

-- Adds a sign of life to a plan. info: `<silent after, ms>;<node>;<pid>`. alarm: when silent workers are
-- looked for.
local function note_worker(plan, worker, info, alarm)
  local deadline = plan.now + (tonumber(string.match(info, '^%d+')) or FORGOTTEN_AFTER)
  append(plan.workers, int(deadline), worker)
  append(plan.fields, '~w:' .. worker, '1;' .. int(plan.now) .. ';' .. info)
  if not alarm or tonumber(alarm) > deadline then
    append(plan.fields, '~alarm', int(deadline))
    append(plan.timers, int(deadline), '~w')
  end
end

-- The leases in the hands of a worker, or of all incarnations of a name: members of `hands`.
local function in_hands(at, worker, limit)
  return redis.call(
    'ZRANGE',
    at.hands,
    '[' .. worker .. ' ',
    '(' .. worker .. '!',
    'BYLEX',
    'LIMIT',
    '0',
    int(limit)
  )
end

-- fail: working -> pending, at the front, or rejected: the tasks of one worker and of no other. (I5 I8)
-- Returns as `take_back`, and true where some may be left.
local function fail(at, worker, now, limit)
  local members = in_hands(at, worker, limit)
  local ids, mine = {}, {}
  for i, member in ipairs(members) do
    local owner, id = string.match(member, '^(%S+ %S*) %d+ (%S+)$')
    ids[i], mine[owner] = id, true
  end
  local back, ended, left, failed = take_back(at, ids, now, function(task)
    return task.s == 'w' and mine[task.W]
  end)
  if not failed then
    write('ZREM', at.hands, members)
  end
  return back, ended, left, failed, #members == limit
end

-- Takes workers off the registry.
local function forget_workers(at, workers)
  local fields = {}
  for i, worker in ipairs(workers) do
    fields[i] = '~w:' .. worker
  end
  write('ZREM', at.workers, workers)
  write('HDEL', at.tasks, fields)
end

-- Fails the workers that went silent, forgets those that asked for no more than to be listed, and sets the
-- alarm for the next.
local function fail_silent(at, now)
  local silent = redis.call('ZRANGE', at.workers, '-inf', int(now), 'BYSCORE', 'LIMIT', '0', int(WORKERS))
  local over = {}
  for _, worker in ipairs(silent) do
    local info = redis.call('HGET', at.tasks, '~w:' .. worker)
    local unfinished
    if info and string.find(info, '^1;%d+;%d') then
      local _, _, _, failed, more = fail(at, worker, now, SLICE)
      unfinished = failed or more
    end
    if not unfinished then
      over[#over + 1] = worker
    end
  end
  forget_workers(at, over)
  local alarm = head(at.workers)
  local plan = new_plan(at, now)
  if alarm then
    append(plan.timers, int(math.max(alarm, now)), '~w')
    append(plan.fields, '~alarm', int(alarm))
  else
    plan.gone = { '~alarm' }
  end
  commit(plan)
end
