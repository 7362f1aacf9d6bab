-- commit: what a script has decided to write, and the transitions that several scripts make.

-- How many leases one plan may end: no command of `commit` then has more than SLICE arguments.
local PLAN = 160

-- Forgets what was carried out. taken: members of `order` that the plan takes away.
local function clear(plan)
  plan.writes, plan.taken = {}, {}
  plan.news, plan.closed = plan.news and {}, false
  return plan
end

-- at: the queue's keys by part, those that the script declares. news: what `tell` notes, where the queue's
-- settings ask for events or statistics.
local function new_plan(at, now)
  local plan = { at = at, now = now, groups = {}, opened = 0, was = {}, run = RUN }
  return clear(plan)
end

-- Notes what happened to a task, for events and statistics.
local function tell(plan, event, id)
  if plan.news then
    plan.news[event] = plan.news[event] or {}
    append(plan.news[event], id)
  end
end

-- Takes in the control fields `~set` and `~stats`. True for those of a later release.
local function heed(plan, set, stats)
  plan.settings, plan.stats = parse_settings(set or nil), stats or '1;0'
  plan.news = (plan.settings.e or plan.settings.s) and {} or nil
  return newer(set)
end

-- A plan that heeds the queue's settings; nothing where those are a later release's.
local function open_plan(at, now)
  local plan, control = new_plan(at, now), redis.call('HMGET', at.tasks, '~set', '~stats')
  return not heed(plan, control[1], control[2]) and plan
end

-- Counts the news into the minute's statistics; a minute that is over moves to its place among the last
-- sixty.
local function count_news(plan)
  local minute, counts = math.floor(plan.now / 60000), {}
  local last = tonumber(string.match(plan.stats, '^1;(%d+)') or 0)
  if last < minute and last > 0 then
    will(plan, 'HSET tasks', '~m' .. int(last % 60), plan.stats)
  end
  for event, count in string.gmatch(last < minute and '' or plan.stats, ';(%a+)=(%d+)') do
    counts[event] = count
  end
  -- In any order: each has a count of its own.
  for event, ids in pairs(plan.news) do
    add(counts, event, #ids)
  end
  plan.stats = '1;' .. int(math.max(last, minute))
  for _, event in ipairs(sorted_keys(counts)) do
    plan.stats = plan.stats .. ';' .. event .. '=' .. counts[event]
  end
  will(plan, 'HSET tasks', '~stats', plan.stats)
end

-- Publishes the news: `<event> <when> <id> …`.
local function publish(plan)
  local channel = string.gsub(plan.at.tasks, 'tasks$', 'events')
  for _, event in ipairs(sorted_keys(plan.news)) do
    local ids = table.concat(plan.news[event], ' ')
    redis.call('PUBLISH', channel, event .. ' ' .. int(plan.now) .. ' ' .. ids)
  end
end

-- A member of `hands`: sorted by worker, then in the order in which it took its tasks.
local function hand(worker, lease, id)
  return worker .. ' ' .. string.format('%015.0f', tonumber(lease)) .. ' ' .. id
end

-- Adds the end of a lease to a plan.
local function leave(plan, id, task)
  will(plan, 'ZREM working', id)
  if task.W then
    will(plan, 'ZREM hands', hand(task.W, task.n, id))
  end
  if shared(task) then
    local group = group_of(plan, task)
    group.w = math.max(0, group.w - 1)
  end
end

-- The score in `delayed` of a task due then. Half a millisecond marks those that go to `fair`, so that
-- others cost nothing.
local function score_when_due(task, due)
  return int(due) .. (shared(task) and '.5' or '')
end

-- Adds to a plan that a task waits again: ready, at its place, or later.
local function wait_again(plan, id, task, text, place, due)
  task.s, task.k, task.l, task.T = '', '', '', nil
  transition(task, due and 'd' or 'p', plan.now)
  if due then
    will(plan, 'ZADD delayed', score_when_due(task, due), id)
    task.S = nil
  else
    enter(plan, id, task, place)
  end
  will(plan, 'HSET tasks', '.' .. id, format(task, text))
end

-- Adds the end of a task to a plan. What is kept of it, and for how long, was fixed at enqueue or is given;
-- a cancelled task keeps only its tombstone.
local function finish(plan, id, task, text, state, reason, given)
  local ttl = 0
  if state == 'completed' then
    ttl = tonumber(given or task.r or DEFAULT_RESULT_TTL)
  elseif reason ~= 'cancelled' then
    ttl = tonumber(given or task.d or DEFAULT_DEAD_TTL)
  end
  task.s, task.k, task.l = string.sub(state, 1, 1), '', ''
  transition(task, task.s, plan.now)
  task.y = reason ~= '' and reason or nil
  task.z = int(plan.now)
  task.f, task.S, task.O, task.T = nil, nil, nil, nil
  if state == 'rejected' and ttl > 0 then
    will(plan, 'ZADD dead', task.z, id)
  else
    task.m, task.r, task.d = nil, nil, nil
    will(plan, 'HSET tasks', id, '')
  end
  will(plan, 'HSET tasks', '.' .. id, format(task, ttl > 0 and text or ''))
  will(plan, 'ZADD expiry', int(plan.now + math.max(ttl, RESEND_WINDOW)), id)
  tell(plan, reason == 'cancelled' and reason or state, id)
end

-- Adds to a plan what it means for groups and statistics.
local function close(plan)
  if not plan.closed then
    close_groups(plan)
    if plan.news and plan.settings.s and next(plan.news) then
      count_news(plan)
    end
    plan.closed = true
  end
end

-- Stores a plan's fields before all else, so that a full Redis refuses here and nothing has been written.
-- Returns the error. before: what stood in the fields, where they were not those of groups.
local function store_or_undo(plan, before)
  local tasks, fields = plan.at.tasks, writes_of(plan, 'HSET tasks')
  for first = 1, #fields, SLICE do
    local last = math.min(first + SLICE - 1, #fields)
    local failed = refusal(redis.pcall('HSET', tasks, unpack(fields, first, last)))
    if failed then
      local new, old = {}, {}
      for i = 1, first - 1, 2 do
        local value = before[fields[i]] or plan.was[fields[i]]
        new[#new + 1] = fields[i]
        append(old, value and fields[i] or nil, value or nil)
      end
      -- Removing makes the room that the old values need.
      write('HDEL', tasks, new)
      write('HSET', tasks, old)
      return failed
    end
  end
  plan.writes['HSET tasks'] = nil
end

-- Carries out a plan, what frees memory first. Returns the error where Redis has no room for the records:
-- nothing has then changed but the deadlines, which leave the holders a minute to settle again.
local function commit(plan)
  local at, ended = plan.at, writes_of(plan, 'ZREM working')
  write('ZREM', at.working, ended)
  close(plan)
  local failed = planned(plan, 'HSET tasks') > 0 and store(at.tasks, writes_of(plan, 'HSET tasks'))
  if failed then
    for _, id in ipairs(ended) do
      redis.call('ZADD', at.working, int(plan.now + 60000), id)
    end
    return failed
  end
  write_rest(plan)
  local timers = write('ZADD', at.delayed, plan.writes.timers or {})
  if timers > 0 then
    redis.call('HINCRBY', at.tasks, '~timers', int(timers))
  end
  if plan.news and plan.settings.e then
    publish(plan)
  end
end

-- Moves deadlines of leases, never to an earlier time. deadlines: id -> ms.
local function put_deadlines(at, deadlines)
  local scores = {}
  -- In any order: the zset has its own.
  for id, deadline in pairs(deadlines) do
    append(scores, int(deadline), id)
  end
  for first = 1, #scores, SLICE do
    local last = math.min(first + SLICE - 1, #scores)
    if refusal(redis.pcall('ZADD', at.working, 'GT', unpack(scores, first, last))) then
      -- As in `store`; here nothing grows at all.
      redis.call('HDEL', at.tasks, '')
      redis.call('ZADD', at.working, 'GT', unpack(scores, first, last))
    end
  end
end

-- take_back: working -> pending (at the front, the first id foremost), fair, held or rejected. (I5 I8)
-- sure: whether a task is still the caller's to take back.
-- Returns how many went back, how many ended, how many are a later release's and stay; and an error if any.
local function take_back(at, ids, now, sure)
  local back, ended, left = 0, 0, 0
  -- The last ones first, as each slice goes to the front.
  for last = #ids, 1, -PLAN do
    local first = math.max(last - PLAN + 1, 1)
    local names = { '~set', '~stats' }
    for i = first, last do
      names[#names + 1] = '.' .. ids[i]
    end
    local records = redis.call('HMGET', at.tasks, unpack(names))
    local plan = new_plan(at, now)
    if heed(plan, records[1], records[2]) then
      return back, ended, left + last, nil
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
      elseif sure(task, id) then
        leave(plan, id, task)
        add(task, 'x', 1)
        tell(plan, 'reclaimed', id)
        if task.f then
          finish(plan, id, task, texts[i], 'rejected', 'cancelled')
        elseif exhausted(task) then
          finish(plan, id, task, texts[i], 'rejected', 'lease_expired')
        else
          wait_again(plan, id, task, texts[i], 'front')
        end
      end
    end
    release(plan)
    local failed = commit(plan)
    if failed then
      return back, ended, left, failed
    end
    back = back + planned(plan, 'ZREM working') - planned(plan, 'ZADD expiry') / 2
    ended = ended + planned(plan, 'ZADD expiry') / 2
  end
  return back, ended, left, nil
end

-- reclaim: working with an expired lease -> pending, at the front, or rejected. (I5 I6 I8)
local function reclaim(at, now, limit)
  local ids = redis.call('ZRANGE', at.working, '-inf', int(now), 'BYSCORE', 'LIMIT', '0', int(limit))
  return take_back(at, ids, now, function()
    return true
  end)
end
