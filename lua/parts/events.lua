-- events: what a call reports: published events, and the statistics of each minute.

-- The fields of `tasks` with the statistics: of all minutes before the last one with events, of that one, and
-- of each of the last sixty.
local function statistics_fields()
  local fields = { '~totals', '~stats' }
  for i = 0, 59 do
    append(fields, '~m' .. int(i))
  end
  return fields
end

-- Appends the records of the statistics to a reply: the first two, then those of the last sixty minutes. A
-- field that was not used again in the last hour has an older minute.
-- found: the values of `statistics_fields`.
local function append_statistics(reply, found, now)
  append(reply, found[1] or '', found[2] or '')
  for i = 3, #found do
    local minute = string.match(found[i] or '', '^1;(%d+)')
    if minute and tonumber(minute) > math.floor(now / 60000) - 60 then
      append(reply, found[i])
    end
  end
end

-- Notes an event of a task, if the queue has events or statistics.
local function note_event(plan, event, id)
  if plan.events then
    plan.events[event] = plan.events[event] or {}
    append(plan.events[event], id)
  end
end

-- Notes what listeners learn of a task, after its event was noted, if the queue publishes events.
-- due: when the task comes again (ms; 0: none, or at once); reason: why it ended, else empty; value: as it is
-- stored; empty if there is none. A long value is left out, and one after some 64 KB of others.
local function note_detail(plan, event, task, due, reason, value)
  if plan.settings.events then
    local others = plan.events[event].details or ''
    if #value > 1800 or #others > 64000 or string.find(value, '\n') then
      value = '+'
    end
    plan.events[event].details = others
      .. '\n'
      .. table.concat({ task.attempts, int(due), reason, value }, ' ')
  end
end

-- Adds a number to the statistics, if the queue keeps them. A duration (ms) is added to its sum, and counted
-- in its class. The classes end at 10, 30, 100 … ms; the thirteenth and last one has no end.
-- kind: 'attempts'; 'w', how long a task waited for its first attempt; 'd', how long an attempt took.
local function note_number(plan, kind, number)
  if not (plan.events and plan.settings.statistics) then
    return
  end
  plan.counts = plan.counts or {}
  if kind == 'attempts' then
    add(plan.counts, kind, number)
    return
  end
  local ms, class, bound = math.max(0, number), 0, 10
  while ms > bound and class < 12 do
    class = class + 1
    if class % 2 == 1 then
      bound = bound * 3
    else
      bound = bound * 10 / 3
    end
  end
  add(plan.counts, kind .. int(class), 1)
  add(plan.counts, kind .. 'ms', ms)
end

-- Adds the events to the statistics of this minute. The first call in a new minute moves the past minute's
-- record from `~stats` to its field `~m<minute modulo 60>`, and adds it to `~totals`. If the clock was set
-- back by up to an hour, calls count in the minute of `~stats`. Records of a later release stay as they are.
local function count_events(plan)
  -- Adds counts to those of a record. The form of a record is `1;<minute>;<field>=<number>…`.
  local function with_counts(record, minute, added)
    local counts = {}
    for field, number in string.gmatch(record, ';(%w+)=(%d+)') do
      counts[field] = number
    end
    -- In any order: each field has its own number.
    for field, number in pairs(added) do
      add(counts, field, number)
    end
    local text = '1;' .. int(minute)
    for _, field in ipairs(sorted_keys(counts)) do
      text = text .. ';' .. field .. '=' .. counts[field]
    end
    return text
  end

  -- The field that counts this call, by its kind: enqueue, dequeue, settle, or another.
  local function call_field()
    local events = plan.events
    if events.enqueued then
      return 'cE'
    elseif events.dequeued then
      return 'cD'
    elseif not events.reclaimed and (events.completed or events.requeued or events.rejected) then
      return 'cS'
    end
    return 'cO'
  end

  if newer(plan.stats) then
    return
  end
  local minute, added = math.floor(plan.now / 60000), plan.counts or {}
  local last = tonumber(string.match(plan.stats, '^1;(%d+)') or 0)
  local begins = last < minute or last > minute + 60
  local totals = begins and last > 0 and redis.call('HGET', plan.keys.tasks, '~totals')
  if begins and last > 0 and not newer(totals) then
    local past = {}
    for field, number in string.gmatch(plan.stats, ';(%w+)=(%d+)') do
      past[field] = number
    end
    plan.stored_before['~totals'] = totals or nil
    plan_write(plan, 'HSET tasks', '~m' .. int(last % 60), plan.stats)
    local since = math.min(tonumber(string.match(totals or '', '^1;(%d+)') or last), minute)
    plan_write(plan, 'HSET tasks', '~totals', with_counts(totals or '', since, past))
  end
  -- In any order: each event has its own count.
  for event, ids in pairs(plan.events) do
    add(added, event, #ids)
  end
  -- A plan that is committed several times counts once.
  if not plan.call_counted then
    add(added, call_field(), 1)
    plan.call_counted = true
  end
  plan.counts = nil
  plan.stats = with_counts(begins and '' or plan.stats, begins and minute or last, added)
  plan_write(plan, 'HSET tasks', '~stats', plan.stats)
end
