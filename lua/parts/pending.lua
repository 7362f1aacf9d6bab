-- pending: takes ids off the list and `fair` in the order of delivery, and puts back those that are not
-- delivered.

-- How many control fields `read_waiting` returns before the records.
local CONTROL = 8

-- The index at which the slice of ids from `first` on ends. The first slice is short, so that large payloads
-- cannot fill the script's memory.
local function slice_end(ids, first)
  return math.min(first == 1 and 32 or first + 127, #ids)
end

-- Reads the control fields that a dequeue needs, and both records of each id from first to last. Returns the
-- error if Redis refuses. beside: fields to read after these.
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

-- The control fields in a result of `read_waiting`.
local function control_in(found)
  local lease, slot, set, stats, fair, rate, alarm, wake = unpack(found, 1, CONTROL)
  local control = { lease = lease, slot = slot, set = set, stats = stats }
  control.fair, control.rate, control.alarm, control.wake = fair, rate, alarm, wake
  return control
end

-- What a dequeue has taken off, in the order of delivery. It later gets `times`, of `parse_clock`, if groups
-- or priorities are in use: the list is then one share among theirs.
-- popped: ids that were taken off the list already; ahead: the result of `look_ahead`; reads: the results of
-- `read_waiting` for each slice.
local function new_taken(keys, popped, ahead, reads)
  return { keys = keys, list_refund = 0, popped_ids = popped, ahead = ahead, reads = reads }
end

-- True for an entry of the list.
local function in_list(entry)
  return entry.listed or not entry.score
end

-- Entries of the list that were not deliverable cost the list's share nothing.
local function uncount_skipped(taken)
  if taken.times and taken.times.list_tag then
    taken.times.list_tag = math.max(0, taken.times.list_tag - taken.list_refund)
  end
  taken.list_refund = 0
end

-- Takes the next entries off both the list and `fair`, in the order of their tags, and puts back the rest.
local function pop_with_fair(taken, most)
  uncount_skipped(taken)
  local keys, times = taken.keys, taken.times
  local ids = redis.call('RPOP', keys.pending, int(most)) or {}
  local fair = redis.call('ZPOPMIN', keys.fair, int(most))
  local tag = #ids > 0 and (times.list_tag or (times[0] or 0) + SHARE)
  local i, j, before = 1, 1, #taken
  while #taken - before < most and (ids[i] or fair[j]) do
    local score = ids[i] and 9 * BAND + tag
    if score and not (fair[j] and tonumber(fair[j + 1]) < score) then
      taken[#taken + 1] = { id = ids[i], score = int(score), listed = true }
      tag, i = tag + SHARE, i + 1
    else
      taken[#taken + 1] = { id = fair[j], score = fair[j + 1] }
      j = j + 2
    end
  end
  -- The tag of the list's next task stays while that task waits. An empty list has none.
  times.list_tag = (#ids == most or ids[i]) and tag or nil
  write('RPUSH', keys.pending, reversed(ids, i))
  local rest = {}
  for first = j, #fair, 2 do
    append(rest, fair[first + 1], fair[first])
  end
  write('ZADD', keys.fair, rest)
  return #taken - before
end

-- Takes the next entries off. Returns how many.
local function pop(taken, most)
  if taken.times then
    return pop_with_fair(taken, most)
  end
  local ids = taken.popped_ids or redis.call('RPOP', taken.keys.pending, int(most)) or {}
  taken.popped_ids = nil
  for _, id in ipairs(ids) do
    taken[#taken + 1] = { id = id }
  end
  return #ids
end

-- Puts back what was taken, from the given entry on, as if it had never been taken.
local function put_back(taken, first)
  local ids, scores = {}, {}
  taken.reads = nil
  taken.list_refund = first > 1 and taken.list_refund or 0
  for i = #taken, first, -1 do
    local entry = taken[i]
    if in_list(entry) then
      ids[#ids + 1] = entry.id
      if entry.score then
        taken.times.list_tag = entry.score % BAND
      end
    else
      append(scores, entry.score, entry.id)
    end
    taken[i] = nil
    taken.drained = false
  end
  write('RPUSH', taken.keys.pending, ids)
  write('ZADD', taken.keys.fair, scores)
end

-- Promotes and reclaims what is due, up to max(`most`, 32) of each kind. Sets `next_due`: when the next
-- delayed task is due or lease expires (0: none); and `dead_letters`, as in `revoke` (nil: none). Returns
-- true if anything was due. Then the entries from `first` on were put back: reclaimed tasks go before them,
-- promoted ones behind them.
-- places: the list is empty, and so many promoted tasks may be taken without going through it (nil: none).
-- Sets `direct`: how many were; nil if the entries were put back.
local function bring_due(taken, first, most, time, places)
  local keys, ahead = taken.keys, taken.ahead or look_ahead(taken.keys.working, taken.keys.delayed, time)
  taken.ahead, taken.next_due, taken.direct = nil, ahead.next_due, nil
  if ahead.due or ahead.expired then
    local deadline = ahead.deadline
    local leases_end = ahead.expired
    local dead_letters, limit = taken.dead_letters or {}, math.max(most, 32)
    if ahead.expired or not places then
      places = nil
      put_back(taken, first)
    end
    if ahead.expired then
      reclaim(keys, time(), limit, dead_letters)
    end
    if ahead.due then
      local due, place = read_due(keys, time(), limit), 1
      if places and #due.timers == 0 then
        while place <= places and due.plain[place] do
          taken[#taken + 1] = { id = due.plain[place] }
          place = place + 1
        end
        taken.reads, taken.direct = nil, place - 1
      elseif places then
        -- What a timer brings back goes to the front.
        put_back(taken, first)
      end
      local _, waiting, ended = promote(keys, time(), due, place, dead_letters)
      leases_end = leases_end or waiting + ended > 0
    end
    taken.dead_letters = dead_letters[1] and dead_letters or nil
    if leases_end then
      deadline = lowest_score(keys.working)
    end
    local _, following = upcoming(keys.delayed, deadline)
    taken.next_due = following or 0
  end
  return ahead.due or ahead.expired
end

-- Takes the next entries off. If they are too few, it first promotes and reclaims what is due, once a call.
-- Sets `drained` if nothing more is ready.
local function fetch(taken, most, time)
  local first = #taken + 1
  local count = pop(taken, most)
  taken.drained = count < most
  -- Groups or statistics that the caller has read must not change meanwhile.
  if
    taken.drained
    and not taken.next_due
    and not taken.groups_in_use
    and bring_due(taken, first, most, time, most - count)
  then
    if taken.direct then
      count = count + taken.direct
    else
      count = pop(taken, most)
    end
    taken.drained = count < most
    -- A call that has read the control fields before does not see what went to `fair` or `limited`.
    taken.fair_unseen = taken.control_read
  end
end

-- When more tasks will be ready (ms; 0: not known).
local function when_again(taken, plan)
  local next_due = taken.drained and not taken.fair_unseen and taken.next_due or plan.now
  if taken.drained and plan.times and plan.times.limited > 0 and plan.times.stuck > 0 then
    local soon = plan.now + ASK_AGAIN
    next_due = math.min(next_due > 0 and next_due or soon, soon)
  end
  local timers = planned_writes(plan, 'timers')
  for i = 1, #timers, 2 do
    local when = tonumber(timers[i])
    if timers[i + 1] ~= '~w' then
      next_due = math.min(next_due > 0 and next_due or when, when)
    end
  end
  return next_due
end
