-- examine: reads of a queue what may be wrong and the counts do not show. Changes nothing.
local limited = KEYS[1] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[2] -- zset  id -> lease deadline (ms)
local tasks = KEYS[3] -- hash  records and control fields
local dead = KEYS[4] -- zset  id -> when it was rejected (ms)
local workers = KEYS[5] -- zset  worker -> when it counts as silent (ms)
local schedules = KEYS[6] -- zset  schedule -> its next occurrence (ms)
local timetable = KEYS[7] -- hash  records of schedules, and their recurring tasks
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local recent = ARGV[2] -- for how long (ms) a dead letter is new
local late = ARGV[3] -- how long (ms) after its time an occurrence is late
local never = ARGV[4] -- the next occurrence (ms) of a schedule that is paused or has ended
-- Returns {'ok', how many dead letters are new,
--          {of each worker, also the last ten that were failed: name, its record ('': it was failed), the
--          note that it was failed ('': none)},
--          {of the tasks that are working: the first dequeue (ms; 0: none), and its worker ('': none), the
--          longest lease (ms), the number of the last lease, and its dequeue (ms); then of each whose leases
--          expired again and again, at most 10: id, how many of its leases expired},
--          of a queue with a rate: no task was dequeued after that (ms; 0: it is not known),
--          how many schedules are late, {of each, at most 10: name, its occurrence (ms)},
--          {of each paused schedule, at most 10: name, since when (ms)},
--          how many tasks are in `limited`, {of at most 5 of their groups: name, settings, how many of its
--          tasks are working, how many in `limited`, when the first of these was enqueued (ms)}}

-- How many it reads at most of tasks that are working, workers, and schedules that do not occur any more.
local MOST = 100
-- How many schedules, and tasks whose leases expired, it names.
local NAMED = 10
-- From so many leases of a task that expired one after the other, they expire again and again.
local AGAIN = 2
-- How many groups it names.
local GROUPS = 5

local control = redis.call('HMGET', tasks, '~lost', '~set', '~rate')
local lost = lost_workers(control[1])
if
  #lost == 0
  and not control[3]
  and redis.call('EXISTS', limited, working, dead, workers, schedules) == 0
then
  return { 'ok', 0, {}, { 0, '', 0, '0', 0 }, 0, 0, {}, {}, 0, {} }
end
local now = clock(test_now)

local function known_workers()
  local fields, found, names = {}, {}, {}
  local registered = redis.call('ZRANGE', workers, '0', int(MOST - 1), 'REV')
  for _, worker in ipairs(registered) do
    names[worker] = true
  end
  for _, worker in ipairs(lost) do
    append(registered, not names[worker] and worker or nil)
  end
  for _, worker in ipairs(registered) do
    append(fields, '~w:' .. worker, '~f:' .. worker)
  end
  local records = read('HMGET', tasks, fields)
  for i = 1, #fields, 2 do
    append(found, string.sub(fields[i], 4), records[i] or '')
    append(found, records[i + 1] or '')
  end
  return found
end

-- The tasks with the first deadlines: usually all of them.
local function at_work()
  local ids = redis.call('ZRANGE', working, '0', int(MOST - 1))
  local fields, expiring, since, worker, lease, last, taken = {}, {}, 0, nil, 0, 0, 0
  for i, id in ipairs(ids) do
    fields[i] = '.' .. id
  end
  for i, record in ipairs(read('HMGET', tasks, fields)) do
    local task = parse(record)
    local at, number = tonumber(task.dequeued_at), tonumber(task.lease_number)
    if task.state == STATE.working and at then
      if since == 0 or at < since then
        since, worker = at, task.worker
      end
      lease = math.max(lease, tonumber(task.leased_for) or 0)
      if number > last then
        last, taken = number, at
      end
      if tonumber(task.expired_leases or 0) >= AGAIN and #expiring < 2 * NAMED then
        append(expiring, ids[i], tonumber(task.expired_leases))
      end
    end
  end
  return { since, worker or '', lease, int(last), taken, unpack(expiring) }
end

-- By the last tenth of the rate's period in which a dequeue was counted.
local function taken_until()
  local rate, last = parse_settings(control[2] or nil).rate, nil
  for tenth in string.gmatch(control[3] or '', '(%d+):%d+') do
    last = math.max(last or 0, tonumber(tenth))
  end
  if not (rate and last) then
    return 0
  end
  local _, _, length = parse_rate(rate)
  return math.min((last + 1) * length, now)
end

local function late_schedules()
  local before = int(now - tonumber(late))
  local most = int(NAMED)
  local found = redis.call('ZRANGE', schedules, '-inf', before, 'BYSCORE', 'LIMIT', '0', most, 'WITHSCORES')
  local count = #found / 2
  if count == NAMED then
    count = redis.call('ZCOUNT', schedules, '-inf', before)
  end
  for i = 2, #found, 2 do
    found[i] = math.floor(tonumber(finite(found[i])))
  end
  return count, found
end

local function paused_schedules()
  local names = redis.call('ZRANGE', schedules, never, '+inf', 'BYSCORE', 'LIMIT', '0', int(MOST))
  local fields, paused = {}, {}
  for i, name in ipairs(names) do
    fields[i] = '.' .. name
  end
  for i, record in ipairs(read('HMGET', timetable, fields)) do
    local since = #paused < 2 * NAMED and record and tonumber((string.match(record, ';p=(%d+)')))
    if since then
      append(paused, names[i], since)
    end
  end
  return paused
end

-- `limited` is sorted by the numbers of groups: the first task of each is found from the one before.
local function groups_at_limit()
  local ids, number = {}, 0
  while #ids < GROUPS do
    local least = int(number * LIMITED_GROUP)
    local first = redis.call('ZRANGE', limited, least, '+inf', 'BYSCORE', 'LIMIT', '0', '1', 'WITHSCORES')
    if not first[1] then
      break
    end
    ids[#ids + 1] = first[1]
    number = math.floor(tonumber(finite(first[2])) / LIMITED_GROUP) + 1
  end
  local records, fields, firsts, found = read_first_lines(tasks, ids), {}, {}, {}
  for _, id in ipairs(ids) do
    local task = parse_fixed(records[id] or '')
    if task.group then
      firsts[#firsts + 1] = task
      append(fields, '~g:' .. task.group, '~s:' .. task.group)
    end
  end
  local values = read('HMGET', tasks, fields)
  for i, task in ipairs(firsts) do
    local state, settings = values[2 * i - 1], values[2 * i]
    if not (newer(state) or newer(settings)) then
      local group = parse_group(task.group, state, settings)
      append(found, task.group, settings or '')
      append(found, group.working, group.limited)
      append(found, tonumber(task.enqueued_at) or now)
    end
  end
  return found
end

local late_count, late_ones = late_schedules()
local count_limited = redis.call('ZCARD', limited)
return {
  'ok',
  redis.call('ZCOUNT', dead, '(' .. int(now - tonumber(recent)), '+inf'),
  known_workers(),
  at_work(),
  taken_until(),
  late_count,
  late_ones,
  paused_schedules(),
  count_limited,
  count_limited > 0 and groups_at_limit() or {},
}
