-- writes: what a plan has decided to write: one buffer, by command and key.

-- What a plan may write behind the ends of leases (`ZREM working`) and the records (`HSET tasks`), in the
-- order in which it is carried out: these two come first, so that a full Redis refuses there, then what
-- leaves its place, then what takes one (law 1). Of `RPUSH pending` the foremost comes first. The `timers` of
-- `delayed`, which are counted, come last.
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

-- The arguments of a write, to be added to.
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

-- Carries out what follows the ends of leases and the records.
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
