-- pending: what waits, in the order of delivery; taken off to be looked at, and put back where not delivered.

-- How many control fields stand in front of what `read_waiting` gives.
local CONTROL = 8

-- The last id of the slice that begins with the given one: few at first, so that large payloads cannot fill
-- the script's memory.
local function slice_end(ids, first)
  return math.min(first == 1 and 32 or first + 127, #ids)
end

-- Reads the control fields that a dequeue heeds, and both records of each id from first to last. Returns the
-- error where Redis refuses. beside: fields to be read behind these.
local function read_waiting(tasks, slot, ids, first, last, beside)
  local names = first <= last and { '', '' } or {}
  for i = first, last do
    local place = 2 * (i - first)
    names[place + 1], names[place + 2] = ids[i], '.' .. ids[i]
  end
  for i, name in ipairs(beside or {}) do
    names[2 * (last - first + 1) + i] = name
  end
  return redis.pcall(
    'HMGET',
    tasks,
    '~lease',
    slot,
    '~set',
    '~stats',
    '~fair',
    '~rate',
    '~alarm',
    '~wake',
    unpack(names)
  )
end

-- The control fields in what `read_waiting` gives.
local function control_in(found)
  local lease, slot, set, stats, fair, rate, alarm, wake = unpack(found, 1, CONTROL)
  local control = { lease = lease, slot = slot, set = set, stats = stats }
  control.fair, control.rate, control.alarm, control.wake = fair, rate, alarm, wake
  return control
end

-- times: as `parse_clock` reads them, where groups or priorities are in use; the list is then the share of
-- those tasks that have neither.
-- popped: ids that were taken off the list already; ahead: what `look_ahead` gave; reads: what `read_waiting`
-- gave of each slice.
local function new_line(at, popped, ahead, reads)
  return { at = at, unpaid = 0, popped = popped, ahead = ahead, reads = reads }
end

-- True for an entry that comes from the list.
local function in_list(entry)
  return entry.listed or not entry.score
end

-- What the list gave that was no task costs it nothing.
local function pay_back(line)
  if line.times and line.times.list_tag then
    line.times.list_tag = math.max(0, line.times.list_tag - line.unpaid)
  end
  line.unpaid = 0
end

-- Takes the next ones off both the list and `fair`, in the order of their tags, and puts back what is too
-- many.
local function pop_shared(line, most)
  pay_back(line)
  local at, times = line.at, line.times
  local ids = redis.call('RPOP', at.pending, int(most)) or {}
  local fair = redis.call('ZPOPMIN', at.fair, int(most))
  local tag = #ids > 0 and (times.list_tag or (times[0] or 0) + SHARE)
  local i, j, before = 1, 1, #line
  while #line - before < most and (ids[i] or fair[j]) do
    local score = ids[i] and 9 * BAND + tag
    if score and not (fair[j] and tonumber(fair[j + 1]) < score) then
      line[#line + 1] = { id = ids[i], score = int(score), listed = true }
      tag, i = tag + SHARE, i + 1
    else
      line[#line + 1] = { id = fair[j], score = fair[j + 1] }
      j = j + 2
    end
  end
  -- The tag of the list's next task stands while it waits; an empty list has none.
  times.list_tag = (#ids == most or ids[i]) and tag or nil
  write('RPUSH', at.pending, reversed(ids, i))
  local rest = {}
  for first = j, #fair, 2 do
    append(rest, fair[first + 1], fair[first])
  end
  write('ZADD', at.fair, rest)
  return #line - before
end

-- Takes the next ones off. Returns how many.
local function pop(line, most)
  if line.times then
    return pop_shared(line, most)
  end
  local ids = line.popped or redis.call('RPOP', line.at.pending, int(most)) or {}
  line.popped = nil
  for _, id in ipairs(ids) do
    line[#line + 1] = { id = id }
  end
  return #ids
end

-- Puts the popped back, from the given one on, as if they had not been touched.
local function put_back(line, first)
  local ids, scores = {}, {}
  line.reads = nil
  line.unpaid = first > 1 and line.unpaid or 0
  for i = #line, first, -1 do
    local entry = line[i]
    if in_list(entry) then
      ids[#ids + 1] = entry.id
      if entry.score then
        line.times.list_tag = entry.score % BAND
      end
    else
      append(scores, entry.score, entry.id)
    end
    line[i] = nil
    line.drained = false
  end
  write('RPUSH', line.at.pending, ids)
  write('ZADD', line.at.fair, scores)
end

-- Puts what is due in line, at least `most` of each kind if so many are. Sets `next_due`: when the next
-- delayed task is due or lease expires (0: none). True where anything was due; the popped are then back, from
-- the given one on, for reclaimed tasks stand before them, promoted ones behind.
local function bring_due(line, first, most, time)
  local at, ahead = line.at, line.ahead or look_ahead(line.at.working, line.at.delayed, time)
  line.ahead, line.next_due = nil, ahead.next_due
  if ahead.due or ahead.expired then
    put_back(line, first)
    local deadline = ahead.deadline
    local leases_end = ahead.expired
    if ahead.expired then
      reclaim(at, time(), math.max(most, 32))
    end
    if ahead.due then
      local _, back, ended = promote(at, time(), math.max(most, 32))
      leases_end = leases_end or back + ended > 0
    end
    if leases_end then
      deadline = head(at.working)
    end
    local _, following = upcoming(at.delayed, deadline)
    line.next_due = following or 0
  end
  return ahead.due or ahead.expired
end

-- Takes the next ones off; where they are too few, what is due goes in first, once a line. Sets `drained`
-- where nothing more is in line.
local function fetch(line, most, time)
  local first = #line + 1
  line.drained = pop(line, most) < most
  -- With groups or statistics in the caller's hands, they must not change under them.
  if line.drained and not line.next_due and not line.busy and bring_due(line, first, most, time) then
    line.drained = pop(line, most) < most
    -- A call that has read the line already does not see what went to `fair` or `limited`.
    line.unseen = line.looked
  end
end

-- When more will be in line (ms; 0: nothing known).
local function when_again(line, plan)
  local next_due = line.drained and not line.unseen and line.next_due or plan.now
  if line.drained and plan.times and plan.times.limited > 0 and plan.times.stuck > 0 then
    local soon = plan.now + ASK_AGAIN
    next_due = math.min(next_due > 0 and next_due or soon, soon)
  end
  local timers = writes_of(plan, 'timers')
  for i = 1, #timers, 2 do
    local when = tonumber(timers[i])
    if timers[i + 1] ~= '~w' then
      next_due = math.min(next_due > 0 and next_due or when, when)
    end
  end
  return next_due
end
