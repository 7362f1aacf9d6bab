-- writes: the writes that a plan has collected, by command and key.

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
