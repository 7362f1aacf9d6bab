-- repair-entries: what a deep sweep has read of ids, and what it has decided to write.

-- The places of an id, besides the list.
local ZSETS = { 'fair', 'limited', 'working', 'delayed', 'dead', 'expiry' }

-- These places are often all empty, which one command shows.
local RARE = { limited = true, delayed = true, dead = true }

-- Overwrites an entry of the list: removing it would move the others. Blanks are counted like the ghosts of
-- an id that no task can have, so dequeue drops them.
local BLANK = '-'

-- About how many bytes of records one command reads, so that they cannot fill the script's memory.
local READ_BYTES = 4000000

-- The state of one repair: what the call has read, and what it will write. Its fields:
-- seen: the members and fields of a queue by place, if the script has read all of it. They are not read
-- again.
-- removals: by place, ids to remove from it. worker_leases, turns: pairs of an id and its member of
-- `worker-leases` or `fair-by-group`, which must exist. lost: ids without their lease. dead_letters: as in
-- `revoke`. ghosts: how many were added. bytes: how much was read.
local function new_repair(keys, now)
  local repair = { keys = keys, now = now, plan = new_plan(keys, now), report = {}, ghosts = 0, bytes = 0 }
  repair.removals, repair.deadlines, repair.lost =
    { worker_leases = {}, fair_by_group = {}, workers = {} }, {}, {}
  repair.worker_leases, repair.turns, repair.dead_letters = {}, {}, {}
  for _, place in ipairs(ZSETS) do
    repair.removals[place] = {}
  end
  return repair
end

local function report_fault(repair, fault, id)
  append(repair.report, fault, id)
end

local function remove_from(repair, place, id)
  local ids = repair.removals[place]
  ids[#ids + 1] = id
end

-- The scores of members of a zset, in order; false for a missing member.
local function scores_in(repair, place, members)
  local found = {}
  local seen = repair.seen and repair.seen[place]
  if not seen then
    return read('ZMSCORE', repair.keys[place], members)
  end
  for i, member in ipairs(members) do
    found[i] = seen[member] or false
  end
  return found
end

-- The values of fields of `tasks`, in order; false for a missing field.
local function fields_in(repair, names)
  local found = {}
  local seen = repair.seen and repair.seen.tasks
  if not seen then
    return read('HMGET', repair.keys.tasks, names)
  end
  for i, name in ipairs(names) do
    found[i] = seen[name] or false
  end
  return found
end

-- The first lines of both records of each id. Redis returns payloads and results too, so it reads some at a
-- time.
local function read_records(repair, ids)
  local entries, bytes, slice = {}, 0, 16
  while #entries < #ids do
    local names = {}
    local first = #entries == 0 and 3 or 1
    if first == 3 then
      -- The settings and the lease counter come in the first HMGET.
      append(names, '~set', '~lease')
    end
    for i = #entries + 1, math.min(#entries + slice, #ids) do
      append(names, ids[i], '.' .. ids[i])
    end
    local found = fields_in(repair, names)
    if first == 3 then
      repair.newer, repair.lease = newer_settings(found[1]), tonumber(found[2] or 0)
      repair.plan.settings = parse_settings(found[1] or nil)
    end
    for i = first, #names, 2 do
      local entry = { id = names[i], expected = 0 }
      bytes = bytes + #(found[i] or '') + #(found[i + 1] or '')
      -- A member that is no id may name a record of another id, or a control field.
      entry.fixed = not string.find(entry.id, '^[.~]') and found[i] and first_line(found[i])
      entry.record = found[i + 1] and first_line(found[i + 1])
      entry.newer = newer(entry.fixed) or newer(entry.record)
      entries[#entries + 1] = entry
    end
    slice = math.max(1, math.min(SLICE / 2 - 1, math.floor(READ_BYTES * #entries / (bytes + 1))))
  end
  repair.bytes = repair.bytes + bytes
  return entries
end

-- Reads the records of ids and their scores by place. Returns entries, in order.
local function find_entries(repair, ids)
  local keys, entries = repair.keys, read_records(repair, ids)
  local rare_empty = not repair.seen and redis.call('EXISTS', keys.limited, keys.delayed, keys.dead) == 0
  for _, place in ipairs(ZSETS) do
    for i, score in ipairs(rare_empty and RARE[place] and {} or scores_in(repair, place, ids)) do
      entries[i][place] = finite(score)
    end
  end
  return entries
end

-- Moves the value of an unreadable field to `~b:<field>`, where an operator can read it for a week.
local function set_aside(repair, field)
  local plan, kept = repair.plan, '~b:' .. field
  plan_write(plan, 'HSET tasks', kept, redis.call('HGET', repair.keys.tasks, field))
  plan_write(plan, 'ZADD expiry', int(repair.now + DEFAULT_DEAD_TTL), kept)
  report_fault(repair, 'record_broken', field)
end

-- The changing record of an entry, formatted anew, with the text that it has.
local function rewritten(repair, entry)
  local _, text = parse(entry.record and redis.call('HGET', repair.keys.tasks, '.' .. entry.id))
  return format(entry.task, text)
end

-- Writes the right value of a field, or removes the field if it has none.
local function put_field(repair, field, before, after)
  if after and after ~= before then
    plan_write(repair.plan, 'HSET tasks', field, after)
  elseif before and not after then
    plan_write(repair.plan, 'HDEL tasks', field)
  end
end

-- Removes an entry from all zsets except those given. Returns true if it was in any other.
local function keep_in(repair, entry, first, second)
  local elsewhere = false
  for _, place in ipairs(ZSETS) do
    if entry[place] and place ~= first and place ~= second then
      remove_from(repair, place, entry.id)
      entry[place], elsewhere = false, true
    end
  end
  return elsewhere
end

-- The scores and members that a zset lacks, to be added. Its scores are all 0. Reports a fault for each.
-- expected: pairs of an id and the member that the zset must have.
local function missing_members(repair, place, expected, fault)
  local ids, members, missing = {}, {}, {}
  for i = 1, #expected, 2 do
    append(ids, expected[i])
    append(members, expected[i + 1])
  end
  for i, score in ipairs(scores_in(repair, place, members)) do
    if tonumber(score or 1) ~= 0 then
      append(missing, '0', members[i])
      report_fault(repair, fault, ids[i])
    end
  end
  return missing
end

-- Writes what has been decided so far. Returns the error if Redis has no room.
local function write_repairs(repair)
  local failed = commit(repair.plan)
  if failed then
    return failed
  end
  -- In any order: each place is a key of its own.
  for place, ids in pairs(repair.removals) do
    write('ZREM', repair.keys[place], ids)
    repair.removals[place] = {}
  end
  write('ZADD', repair.keys.working, repair.deadlines)
  write(
    'ZADD',
    repair.keys.worker_leases,
    missing_members(repair, 'worker_leases', repair.worker_leases, 'worker_lease_wrong')
  )
  write(
    'ZADD',
    repair.keys.fair_by_group,
    missing_members(repair, 'fair_by_group', repair.turns, 'turn_wrong')
  )
  repair.worker_leases, repair.turns, repair.deadlines = {}, {}, {}
  clear_plan(repair.plan)
end

-- Overwrites entries of the list with blanks. Returns the error if Redis has no room. indexes: from the left,
-- each once.
local function blank(repair, indexes)
  local keys, count = repair.keys, #indexes
  if count == 0 then
    return nil
  end
  local found = redis.call('HMGET', keys.tasks, '.' .. BLANK, '~ghosts')
  local task = parse(found[1])
  local record = bare_record(STATE.ghost, int(tonumber(task.ghosts or 0) + count))
  local ghosts = int((tonumber(found[2] or 0) or 0) + count)
  local failed = store_fields(keys.tasks, { '.' .. BLANK, record, '~ghosts', ghosts })
  if failed then
    return failed
  end
  repair.ghosts = repair.ghosts + count
  for _, index in ipairs(indexes) do
    redis.call('LSET', keys.pending, int(index), BLANK)
  end
end
