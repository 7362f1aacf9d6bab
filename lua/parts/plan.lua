-- plan: what a script has decided to write, by command and key. `commit` writes it in one declared order.

-- The order of a plan's writes. The ends of leases (`ZREM working`) and the records (`HSET tasks`) go before
-- these, so that a full Redis refuses there. Then ids leave places, before they enter others. The first id of
-- `RPUSH pending` is the foremost. The `timers` of `delayed`, which are counted, go last.
local WRITE_ORDER = {
  'ZREM limited',
  'ZREM worker_leases',
  'HDEL tasks',
  'ZREM expiry',
  'ZREM dead',
  'RPUSH pending',
  'LPUSH pending',
  'ZADD fair',
  'ZREM fair_by_group',
  'ZADD fair_by_group',
  'ZADD fair XX',
  'ZADD limited',
  'ZADD delayed',
  'ZADD workers',
  'ZADD expiry',
  'ZADD dead',
}

-- The list of a write's arguments, for adding to it.
local function planned_writes(plan, what)
  local list = plan.writes[what] or {}
  plan.writes[what] = list
  return list
end

-- Adds one or two arguments to a write; not nil.
local function plan_write(plan, what, first, second)
  append(planned_writes(plan, what), first, second)
end

-- How many arguments a write has.
local function planned_count(plan, what)
  local list = plan.writes[what]
  return list and #list or 0
end

-- Writes what follows the ends of leases and the records.
local function write_rest(plan)
  for _, what in ipairs(WRITE_ORDER) do
    local args = plan.writes[what]
    if args then
      local command, part, option = string.match(what, '^(%u+) ([%l_]+) ?(%u*)$')
      write(
        command,
        plan.keys[part],
        command == 'RPUSH' and reversed(args, 1) or args,
        option ~= '' and option or nil
      )
    end
  end
end

-- Empties a plan after its commit. `removed_turns` has the members of `fair-by-group` that the plan removes.
local function clear_plan(plan)
  plan.writes, plan.removed_turns = {}, {}
  plan.events, plan.finished = plan.events and {}, false
  return plan
end

-- keys: the queue's keys by part, those that the script declares.
local function new_plan(keys, now)
  local plan = { keys = keys, now = now, groups = {}, groups_read = 0, stored_before = {} }
  -- How many tasks of a group move up at once. The others do when these have had their turns.
  plan.move_up_limit = 200
  return clear_plan(plan)
end

-- Reads the control fields `~set` and `~stats` into a plan. Events are collected if the settings ask for
-- events or statistics. Returns true if a later release wrote the settings.
local function read_settings(plan, set, stats)
  plan.settings, plan.stats = parse_settings(set), stats or '1;0'
  plan.events = (plan.settings.events or plan.settings.statistics) and {} or nil
  return newer(set)
end

-- A new plan with the queue's settings; false if a later release wrote them.
local function open_plan(keys, now)
  local plan, control = new_plan(keys, now), redis.call('HMGET', keys.tasks, '~set', '~stats')
  return not read_settings(plan, control[1], control[2]) and plan
end

-- Adds the states of groups and the statistics to a plan.
local function finish_plan(plan)
  if not plan.finished then
    write_groups(plan)
    if plan.events and plan.settings.statistics and next(plan.events) then
      count_events(plan)
    end
    plan.finished = true
  end
end

-- Stores a plan's fields before its other writes. If a full Redis refuses, it restores the former values and
-- returns the error: nothing has changed then.
-- before: the former values of the fields, except those of groups.
local function store_or_undo(plan, before)
  local tasks, fields = plan.keys.tasks, planned_writes(plan, 'HSET tasks')
  for first = 1, #fields, SLICE do
    local last = math.min(first + SLICE - 1, #fields)
    local failed = error_of(redis.pcall('HSET', tasks, unpack(fields, first, last)))
    if failed then
      local new, old = {}, {}
      for i = 1, first - 1, 2 do
        local value = before[fields[i]] or plan.stored_before[fields[i]]
        new[#new + 1] = fields[i]
        append(old, value and fields[i] or nil, value or nil)
      end
      -- Removing frees the memory that the old values need.
      write('HDEL', tasks, new)
      write('HSET', tasks, old)
      return failed
    end
  end
  plan.writes['HSET tasks'] = nil
end

-- Writes a plan, what frees memory first. Returns the error if Redis has no room for the records. Then only
-- deadlines have changed: the leases that were to end last a minute from now, so that holders can try again.
local function commit(plan)
  local keys, ended = plan.keys, planned_writes(plan, 'ZREM working')
  write('ZREM', keys.working, ended)
  finish_plan(plan)
  local failed = planned_count(plan, 'HSET tasks') > 0
    and store_fields(keys.tasks, planned_writes(plan, 'HSET tasks'))
  if failed then
    for _, id in ipairs(ended) do
      redis.call('ZADD', keys.working, int(plan.now + 60000), id)
    end
    return failed
  end
  write_rest(plan)
  local timers = write('ZADD', keys.delayed, plan.writes.timers or {})
  if timers > 0 then
    redis.call('HINCRBY', keys.tasks, '~timers', int(timers))
  end
  if plan.events and plan.settings.events then
    -- One message for each kind of event: `<event> <when> <id> …`, and a line of details for each id, if any.
    -- All partitions of a queue share a channel.
    local own = string.gsub(plan.keys.tasks, 'tasks$', 'events')
    local channel = string.gsub(own, '}?/%d+}?:events$', '}:events')
    for _, event in ipairs(sorted_keys(plan.events)) do
      local ids = plan.events[event]
      local text = table.concat(ids, ' ') .. table.concat(ids.details or {})
      redis.call('PUBLISH', channel, event .. ' ' .. int(plan.now) .. ' ' .. text)
    end
  end
end
