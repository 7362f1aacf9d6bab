-- repair-entries: what the deep sweep knows of an id, and what it has decided to do.

-- Where an id can stand, besides the list.
local ZSETS = { 'fair', 'limited', 'working', 'delayed', 'dead', 'expiry' }

-- These places are often all empty, which one command shows.
local RARE = { limited = true, delayed = true, dead = true }

-- Put over an entry of the list that is to go: to take it out would move the others. Blanks are counted like
-- the ghosts of an id that no task can have, so dequeue drops them.
local BLANK = '-'

-- About how many bytes of records are read at a time, so that they cannot fill the script's memory.
local READ_BYTES = 4000000

-- seen: if a script has read all of a queue: its members and fields, by place. They are not read again.
-- out: by place, ids to remove from there. worker_leases, turns: ids, each with its member of `worker-leases`
-- and `fair-by-group`. lost: ids whose lease is gone. ghosts: how many were added. bytes: how much was read.
local function new_mending(at, now)
  local mending = { at = at, now = now, plan = new_plan(at, now), report = {}, ghosts = 0, bytes = 0 }
  mending.out, mending.deadlines, mending.lost =
    { worker_leases = {}, fair_by_group = {}, workers = {} }, {}, {}
  mending.worker_leases, mending.turns = {}, {}
  for _, place in ipairs(ZSETS) do
    mending.out[place] = {}
  end
  return mending
end

local function note(mending, fault, id)
  append(mending.report, fault, id)
end

local function take_from(mending, place, id)
  local ids = mending.out[place]
  ids[#ids + 1] = id
end

-- The scores of members of a zset, in order; false for a missing member.
local function scores_in(mending, place, members)
  local found = {}
  local seen = mending.seen and mending.seen[place]
  if not seen then
    return read('ZMSCORE', mending.at[place], members)
  end
  for i, member in ipairs(members) do
    found[i] = seen[member] or false
  end
  return found
end

-- The values of fields of `tasks`, in order; false for a missing field.
local function fields_in(mending, names)
  local found = {}
  local seen = mending.seen and mending.seen.tasks
  if not seen then
    return read('HMGET', mending.at.tasks, names)
  end
  for i, name in ipairs(names) do
    found[i] = seen[name] or false
  end
  return found
end

-- The first lines of both records of each id. Payloads and results come along: some at a time.
local function read_records(mending, ids)
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
    local found = fields_in(mending, names)
    if first == 3 then
      mending.newer, mending.lease = newer(found[1]), tonumber(found[2] or 0)
    end
    for i = first, #names, 2 do
      local entry = { id = names[i], expected = 0 }
      bytes = bytes + #(found[i] or '') + #(found[i + 1] or '')
      -- Behind what is no id there may be another's record, or a control field.
      entry.fixed = not string.find(entry.id, '^[.~]') and found[i] and first_line(found[i])
      entry.record = found[i + 1] and first_line(found[i + 1])
      entry.newer = newer(entry.fixed) or newer(entry.record)
      entries[#entries + 1] = entry
    end
    slice = math.max(1, math.min(SLICE / 2 - 1, math.floor(READ_BYTES * #entries / (bytes + 1))))
  end
  mending.bytes = mending.bytes + bytes
  return entries
end

-- Looks up ids: their records, and their scores by place. Returns entries, in order.
local function look_up(mending, ids)
  local at, entries = mending.at, read_records(mending, ids)
  local few = not mending.seen and redis.call('EXISTS', at.limited, at.delayed, at.dead) == 0
  for _, place in ipairs(ZSETS) do
    for i, score in ipairs(few and RARE[place] and {} or scores_in(mending, place, ids)) do
      entries[i][place] = finite(score)
    end
  end
  return entries
end

-- Keeps what stands in a field where somebody may look at it, and nobody trips over it.
local function set_aside(mending, field)
  local plan, kept = mending.plan, '~b:' .. field
  will(plan, 'HSET tasks', kept, redis.call('HGET', mending.at.tasks, field))
  will(plan, 'ZADD expiry', int(mending.now + DEFAULT_DEAD_TTL), kept)
  note(mending, 'record_broken', field)
end

-- A changing record that says now what its task does, with the text that it has.
local function rewritten(mending, entry)
  local _, text = parse(entry.record and redis.call('HGET', mending.at.tasks, '.' .. entry.id))
  return format(entry.task, text)
end

-- Puts into a field what belongs there; nothing: the field goes.
local function put(mending, field, before, after)
  if after and after ~= before then
    will(mending.plan, 'HSET tasks', field, after)
  elseif before and not after then
    will(mending.plan, 'HDEL tasks', field)
  end
end

-- Takes an entry out of every zset but those given. Returns whether it was in any other.
local function keep_in(mending, entry, first, second)
  local elsewhere = false
  for _, place in ipairs(ZSETS) do
    if entry[place] and place ~= first and place ~= second then
      take_from(mending, place, entry.id)
      entry[place], elsewhere = false, true
    end
  end
  return elsewhere
end

-- The scores and members to add to a zset of names, so that it has all that are expected.
-- expected: id, member, and so on.
local function missing_names(mending, place, expected, fault)
  local ids, members, missing = {}, {}, {}
  for i = 1, #expected, 2 do
    append(ids, expected[i])
    append(members, expected[i + 1])
  end
  for i, score in ipairs(scores_in(mending, place, members)) do
    if tonumber(score or 1) ~= 0 then
      append(missing, '0', members[i])
      note(mending, fault, ids[i])
    end
  end
  return missing
end

-- Writes what has been decided so far. Returns the error where Redis has no room.
local function write_mended(mending)
  local failed = commit(mending.plan)
  if failed then
    return failed
  end
  -- In any order: each is a key of its own.
  for place, ids in pairs(mending.out) do
    write('ZREM', mending.at[place], ids)
    mending.out[place] = {}
  end
  write('ZADD', mending.at.working, mending.deadlines)
  write(
    'ZADD',
    mending.at.worker_leases,
    missing_names(mending, 'worker_leases', mending.worker_leases, 'worker_lease_wrong')
  )
  write(
    'ZADD',
    mending.at.fair_by_group,
    missing_names(mending, 'fair_by_group', mending.turns, 'turn_wrong')
  )
  mending.worker_leases, mending.turns, mending.deadlines = {}, {}, {}
  clear(mending.plan)
end

-- Puts blanks over entries of the list. indexes: places from the left, each once. Returns the error where
-- Redis has no room.
local function blank(mending, indexes)
  local at, count = mending.at, #indexes
  if count == 0 then
    return nil
  end
  local found = redis.call('HMGET', at.tasks, '.' .. BLANK, '~ghosts')
  local task = parse(found[1])
  local record = bare_record(STATE.ghost, int(tonumber(task.ghosts or 0) + count))
  local ghosts = int((tonumber(found[2] or 0) or 0) + count)
  local failed = store(at.tasks, { '.' .. BLANK, record, '~ghosts', ghosts })
  if failed then
    return failed
  end
  mending.ghosts = mending.ghosts + count
  for _, index in ipairs(indexes) do
    redis.call('LSET', at.pending, int(index), BLANK)
  end
end
