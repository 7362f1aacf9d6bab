-- examine: reads of a queue what may be wrong and the counts do not show. Changes nothing.
local limited = KEYS[1] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[2] -- zset  id -> lease deadline (ms)
local tasks = KEYS[3] -- hash  records and control fields
local dead = KEYS[4] -- zset  id -> when it was rejected (ms)
local workers = KEYS[5] -- zset  worker -> when it counts as silent (ms)
local schedules = KEYS[6] -- zset  schedule -> its next occurrence (ms)
local timetable = KEYS[7] -- hash  records of schedules, and their recurring tasks
local pending = KEYS[8] -- list  ids; in at the left, out at the right
local fair = KEYS[9] -- zset  id -> tag, of tasks of a group or with a priority
local delayed = KEYS[10] -- zset  id -> due (ms)
local expiry = KEYS[11] -- zset  id -> when its record is deleted (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local recent = ARGV[2] -- for how long (ms) a dead letter is new
local late = ARGV[3] -- how long (ms) after its time an occurrence is late
local never = ARGV[4] -- the next occurrence (ms) of a schedule that is paused or has ended
-- Returns {'ok', {how many dead letters are new; the first and the last of them (ms; 0: none)},
--          {of each worker, also the last ten that were failed: name, its record ('': it was failed), the
--          note that it was failed ('': none)},
--          {of the tasks that are working: the first dequeue (ms; 0: none), and its worker ('': none), the
--          longest lease (ms), the number of the last lease, and its dequeue (ms); then of each whose leases
--          expired again and again, at most 10: id, how many of its leases expired, without those that an
--          operator took back},
--          {of the tasks that are working or wait, how many have been dequeued, and how many of these failed
--          their last attempt; the first of these failures since a task was completed, and the last one (ms;
--          0: none), its task and its error; the last such error of a task that is working; when the last
--          task was completed (ms; 0: it is not known)},
--          of a queue with a rate: no task was dequeued after that (ms; 0: it is not known),
--          how many schedules are late, {of each, at most 10: name, its occurrence (ms)},
--          {of each paused schedule, at most 10: name, since when (ms), its record},
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
-- How many tasks it reads at most of each end of a place where they wait, and of those that ended last.
local SAMPLE = 20

local control = redis.call('HMGET', tasks, '~lost', '~set', '~rate')
local lost = lost_workers(control[1])
if
  #lost == 0
  and not control[3]
  and redis.call('EXISTS', limited, working, dead, workers, schedules, pending, fair, delayed) == 0
then
  local no_work, no_attempts = { 0, '', 0, '0', 0 }, { 0, 0, 0, 0, '', '', '', 0 }
  return { 'ok', { 0, '0', '0' }, {}, no_work, no_attempts, 0, 0, {}, {}, 0, {} }
end
local now = clock(test_now)

local function records_of(ids)
  local fields = {}
  for i, id in ipairs(ids) do
    fields[i] = '.' .. id
  end
  return read('HMGET', tasks, fields)
end

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

-- What is known of the attempts of some tasks.
local tried, failed, last_failure, working_failure = 0, {}, nil, nil

-- When attempts of a task failed (ms), and the last error; nothing if its last attempt lost its lease.
local function failure_of(id, task, text)
  local enqueued_at, times, last = tonumber(task.enqueued_at), {}, nil
  for entry in string.gmatch(enqueued_at and task.errors or '', '[^\t]+') do
    local ms, short = string.match(entry, '^%d+ (%d+) ([jb].*)$')
    last = short
    append(times, ms and enqueued_at + tonumber(ms))
  end
  if not last then
    return nil
  end
  local error = text ~= '' and text or string.gsub(string.gsub(last, '%%3B', ';'), '%%25', '%%')
  return { id = id, times = times, at = times[#times], error = error, task = task }
end

-- Notes whether the last attempt of a task failed.
local function note_attempts(id, task, text)
  if task.state ~= STATE.working and task.state ~= STATE.waiting or tonumber(task.attempts) == 0 then
    return
  end
  tried = tried + 1
  local failure = failure_of(id, task, text)
  if not failure then
    return
  end
  failed[#failed + 1] = failure
  if not last_failure or failure.at > last_failure.at then
    last_failure = failure
  end
  if task.state == STATE.working and (not working_failure or failure.at > working_failure.at) then
    working_failure = failure
  end
end

-- How many leases of a task expired since a holder last requeued it. The last errors are of the lost ones.
local function expired_leases(task)
  local ended, taken = tonumber(task.expired_leases or 0), {}
  for entry in string.gmatch(ended > 0 and task.errors or '', '[^\t]+') do
    append(taken, string.find(entry, '^%d+ %d+ taken_back$') and 1 or 0)
  end
  local expired = ended
  for i = math.max(#taken - ended, 0) + 1, #taken do
    expired = expired - taken[i]
  end
  return expired
end

-- The tasks with the first deadlines: usually all of them.
local function at_work()
  local ids = redis.call('ZRANGE', working, '0', int(MOST - 1))
  local expiring, since, worker, lease, last, taken = {}, 0, nil, 0, 0, 0
  for i, record in ipairs(records_of(ids)) do
    local task, text = parse(record)
    if task.state == STATE.working then
      note_attempts(ids[i], task, text)
    end
    local at, number = tonumber(task.dequeued_at), tonumber(task.lease_number)
    if task.state == STATE.working and at then
      if since == 0 or at < since then
        since, worker = at, task.worker
      end
      lease = math.max(lease, tonumber(task.leased_for) or 0)
      if number > last then
        last, taken = number, at
      end
      local expired = expired_leases(task)
      if expired >= AGAIN and #expiring < 2 * NAMED then
        append(expiring, ids[i], expired)
      end
    end
  end
  return { since, worker or '', lease, int(last), taken, unpack(expiring) }
end

-- When the last task was completed, by records that are kept for as long as that of the last failed one.
local function last_completed()
  local ttl = math.max(tonumber(last_failure.task.result_ttl or DEFAULT_RESULT_TTL), RESEND_WINDOW)
  local most = int(SAMPLE)
  local ids = redis.call('ZRANGE', expiry, int(now + ttl), '-inf', 'BYSCORE', 'REV', 'LIMIT', '0', most)
  local last = 0
  for _, record in ipairs(records_of(ids)) do
    local task = parse(record)
    if task.state == STATE.completed then
      last = math.max(last, tonumber(task.ended_at) or 0)
    end
  end
  return last
end

-- Of the tasks that are working, and of the next and the last ones that wait: a failed attempt may put its
-- task behind all others.
local function attempts()
  local ids, known = {}, {}
  local first = int(SAMPLE - 1)
  local function look(found)
    for _, id in ipairs(found) do
      append(ids, not known[id] and id or nil)
      known[id] = true
    end
    return #found == SAMPLE
  end
  if look(redis.call('LRANGE', pending, int(-SAMPLE), int(-1))) then
    look(redis.call('LRANGE', pending, '0', first))
  end
  if look(redis.call('ZRANGE', fair, '0', first)) then
    look(redis.call('ZRANGE', fair, '0', first, 'REV'))
  end
  look(redis.call('ZRANGE', delayed, '0', first))
  for i, record in ipairs(records_of(ids)) do
    local task, text = parse(record)
    if task.state == STATE.waiting then
      note_attempts(ids[i], task, text)
    end
  end
  if not last_failure then
    return { tried, 0, 0, 0, '', '', '', 0 }
  end
  local completed_at, since = last_completed(), last_failure.at
  for _, failure in ipairs(failed) do
    for _, at in ipairs(failure.times) do
      if at > completed_at then
        since = math.min(since, at)
      end
    end
  end
  local of_working = working_failure and working_failure.error or ''
  local at, id, error = last_failure.at, last_failure.id, last_failure.error
  return { tried, #failed, since, at, id, error, of_working, completed_at }
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
    local since = #paused < 3 * NAMED and record and tonumber((string.match(record, ';p=(%d+)')))
    if since then
      append(paused, names[i], since)
      append(paused, since and record)
    end
  end
  return paused
end

-- `limited` is sorted by the numbers of groups, which begin with 1: the first task of each is found from the
-- one before.
local function groups_at_limit()
  local ids, number = {}, 1
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
    if not (newer(state) or newer_settings(settings)) then
      settings = format_settings(parse_settings(settings, now))
      local group = parse_group(task.group, state, settings)
      append(found, task.group, settings)
      append(found, group.working, group.limited)
      append(found, tonumber(task.enqueued_at) or now)
    end
  end
  return found
end

-- How many dead letters are new, and the first and the last one. Of many these are counted apart.
local function new_dead_letters()
  local after, limit = '(' .. int(now - tonumber(recent)), int(MOST)
  local found = redis.call('ZRANGE', dead, '+inf', after, 'BYSCORE', 'REV', 'LIMIT', '0', limit, 'WITHSCORES')
  local count, first, last = #found / 2, found[#found], found[2]
  if count == MOST then
    count = redis.call('ZCOUNT', dead, after, '+inf')
    first = redis.call('ZRANGE', dead, after, '+inf', 'BYSCORE', 'LIMIT', '0', '1', 'WITHSCORES')[2]
  end
  return { count, finite(first or '0'), finite(last or '0') }
end

local late_count, late_ones = late_schedules()
local count_limited = redis.call('ZCARD', limited)
return {
  'ok',
  new_dead_letters(),
  known_workers(),
  at_work(),
  attempts(),
  taken_until(),
  late_count,
  late_ones,
  paused_schedules(),
  count_limited,
  count_limited > 0 and groups_at_limit() or {},
}
