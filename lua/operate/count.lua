-- count: reads how many tasks a queue has in each place, and how old the next ones are. Changes nothing.
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[4] -- zset  id -> lease deadline (ms)
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local dead = KEYS[7] -- zset  id -> when it was rejected (ms)
local workers = KEYS[8] -- zset  worker -> when it counts as silent (ms)
local fair_by_group = KEYS[9] -- zset  '<group> <score> <id>' of each task in fair
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local overview = ARGV[2] -- '1' to also return settings and statistics; 'totals': these without minutes
-- Returns {'ok', pending, delayed, working, rejected, blocked, greatest age of the next tasks (ms; -1: none
--          pending), when the next is due or the next lease expires (ms; 0: none), broken, workers, until
--          when it is paused (ms; 1: until it is resumed; 0: it is not), how many groups are stopped}
-- with overview also: now (ms), last lease number, settings ('' for none), and the records of statistics as
--          in `statistics`
--      or {'newer_schema'}, with overview

-- How many entries of a place are read, a page at a time, if the first of them is not deliverable.
local MOST = 1000
local PAGE = 100
local now = clock(test_now)

local function age_from(enqueued_at)
  return math.max(0, now - tonumber(enqueued_at))
end

-- True if a task with this changing record may be waiting. A later release's record cannot be read.
local function may_wait(record)
  return not newer(record) and (parse(record).state or STATE.waiting) == STATE.waiting
end

-- The age of a task; nothing if its record has no payload, as that of a cancelled task, or is unreadable.
local function age_of(fixed)
  return has_payload(fixed) and age_from(parse_fixed(fixed).enqueued_at) or nil
end

-- The age of the first of these ids that has a payload. Redis returns payloads too, so it tries the first id
-- alone.
local function first_age(ids)
  local first, last = 1, 1
  while first <= #ids do
    local fixed = read_first_lines(tasks, { unpack(ids, first, last) })
    for i = first, last do
      local age = age_of(fixed[ids[i]])
      if age then
        return age
      end
    end
    first = last + 1
    last = #ids
  end
end

-- Some ids of a place in the order of delivery. skipped: how many of the first ids are left out.
local function page_of(place, skipped)
  if place == pending then
    return reversed(redis.call('LRANGE', pending, int(-skipped - PAGE), int(-skipped - 1)), 1)
  end
  return redis.call('ZRANGE', place, int(skipped), int(skipped + PAGE - 1))
end

-- The age of the first task of a place behind ghosts and unreadable records. If there are over MOST of these,
-- it is the age of the last ghost, which is at least as old as that task.
local function age_behind(place)
  local seen, bound = {}, nil
  for skipped = 0, MOST - 1, PAGE do
    local ids, names, waiting = page_of(place, skipped), {}, {}
    for i, id in ipairs(ids) do
      names[i] = '.' .. id
    end
    local records = read('HMGET', tasks, names)
    for i, id in ipairs(ids) do
      local task = parse(records[i])
      seen[id] = (seen[id] or 0) + 1
      if place == pending and seen[id] <= tonumber(task.ghosts or 0) then
        if (task.enqueued_at or '') ~= '' then
          bound = age_from(task.enqueued_at)
        end
      elseif may_wait(records[i]) then
        waiting[#waiting + 1] = id
      end
    end
    local age = first_age(waiting)
    if age or #ids < PAGE then
      return age
    end
  end
  return bound
end

local fields =
  { '~ghosts', '~dropped', '~timers', '~elapsed', '~broken', '~checked', '~fair', '~set', '~lease', '~nodes' }
if overview ~= '' then
  -- These are the eleventh and the following.
  for _, field in ipairs(overview == '1' and statistics_fields() or { '~totals', '~stats' }) do
    append(fields, field)
  end
end
local last_statistics = #fields
-- A queue without tasks and workers costs no more reads than this one and that of the fields.
local in_use = redis.call('EXISTS', pending, fair, limited, working, delayed, dead, workers) > 0
local next_listed = in_use and redis.call('LRANGE', pending, '-1', '-1')[1]
local next_fair = in_use and redis.call('ZRANGE', fair, '0', '0')[1]
local next_ids = {}
append(next_ids, next_listed or nil, next_fair or nil)
for _, id in ipairs(next_ids) do
  append(fields, id, '.' .. id)
end
local found, values = {}, redis.call('HMGET', tasks, unpack(fields))
for i, field in ipairs(fields) do
  found[field] = values[i]
end
if
  overview ~= '' and (newer_settings(found['~set']) or newer(found['~totals']) or newer(found['~stats']))
then
  return { 'newer_schema' }
end

-- The age of the first task of a place: usually `id`, which was read with the control fields.
local function age_in(place, id)
  local record = found['.' .. id]
  local is_ghost = place == pending and tonumber(parse(record).ghosts or 0) > 0
  return not is_ghost and may_wait(record) and age_of(found[id]) or age_behind(place)
end

local listed = (next_listed and redis.call('LLEN', pending) or 0) - remaining(found, '~ghosts', '~dropped')
local in_fair = next_fair and redis.call('ZCARD', fair) or 0
local in_limited = parse_clock(found['~fair'] or nil).limited
local waiting = listed + in_fair + in_limited
local ages = {}
append(ages, next_listed and listed > 0 and age_in(pending, next_listed) or nil)
append(ages, next_fair and age_in(fair, next_fair) or nil)
-- No consumer could take these while their group is at its limit: they count only if no other task waits.
if #ages == 0 and in_limited > 0 then
  append(ages, age_behind(limited))
end
local oldest = #ages > 0 and math.max(unpack(ages))
local settings = parse_settings(found['~set'], now)
local deadline = in_use and lowest_score(working) or nil
local due, wake
if in_use then
  due, wake = upcoming(delayed, deadline)
end
local blocked, unready = count_blocked(delayed, found['~nodes'])
local reply = {
  'ok',
  waiting,
  due and redis.call('ZCARD', delayed) - remaining(found, '~timers', '~elapsed') - unready or 0,
  deadline and redis.call('ZCARD', working) or 0,
  in_use and redis.call('ZCARD', dead) or 0,
  blocked,
  oldest or (waiting > 0 and 0) or -1,
  wake or 0,
  remaining(found, '~broken', '~checked'),
  in_use and redis.call('ZCARD', workers) or 0,
  tonumber(settings.paused) or 0,
  settings.o and redis.call('ZLEXCOUNT', fair_by_group, '[~~', '(~~~') or 0,
}
if overview ~= '' then
  append(reply, now, int(found['~lease'] or 0))
  append(reply, settings.paused and found['~set'] or string.gsub(found['~set'] or '', ';p=%d+', ''))
  append_statistics(reply, { unpack(values, 11, last_statistics) }, now)
end
return reply
