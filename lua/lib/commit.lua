-- commit: a plan collects what a script has decided to write; commit carries it out in one declared order.

-- Forgets what was carried out. taken: members of `fair-by-group` that the plan takes away.
local function clear(plan)
  plan.writes, plan.taken = {}, {}
  plan.news, plan.closed = plan.news and {}, false
  return plan
end

-- at: the queue's keys by part, those that the script declares. news: what `tell` notes, where the queue's
-- settings ask for events or statistics.
local function new_plan(at, now)
  local plan = { at = at, now = now, groups = {}, opened = 0, was = {} }
  -- How many tasks of a group move up at once. The others do when these have had their turns.
  plan.run = 200
  return clear(plan)
end

-- Takes in the control fields `~set` and `~stats`. True for those of a later release.
local function heed(plan, set, stats)
  plan.settings, plan.stats = parse_settings(set or nil), stats or '1;0'
  plan.news = (plan.settings.events or plan.settings.statistics) and {} or nil
  return newer(set)
end

-- A plan that heeds the queue's settings; nothing where those are a later release's.
local function open_plan(at, now)
  local plan, control = new_plan(at, now), redis.call('HMGET', at.tasks, '~set', '~stats')
  return not heed(plan, control[1], control[2]) and plan
end

-- Adds to a plan what it means for groups and statistics.
local function close(plan)
  if not plan.closed then
    close_groups(plan)
    if plan.news and plan.settings.statistics and next(plan.news) then
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
  if plan.news and plan.settings.events then
    publish(plan)
  end
end
