-- events: what a call reports: published events, and the statistics of each minute and of the last day.

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
    local noted = plan.events[event]
    noted.details, noted.bytes = noted.details or {}, noted.bytes or 0
    if #value > 1800 or noted.bytes > 64000 or string.find(value, '\n', 1, true) then
      value = '+'
    end
    local line = table.concat({ '\n' .. task.attempts, int(due), reason, value }, ' ')
    append(noted.details, line)
    noted.bytes = noted.bytes + #line
  end
end

-- Adds a number to the statistics, if the queue keeps them. A duration (ms) is added to its sum, and counted
-- in its class. The classes end at 10, 30, 100 … ms; the thirteenth and last one has no end.
-- kind: 'attempts'; 'taken', how many tasks an operator took back; 'w', how long a task waited for its first
-- attempt; 'd', how long an attempt took.
local function note_number(plan, kind, number)
  if not (plan.events and plan.settings.statistics) then
    return
  end
  plan.counts = plan.counts or {}
  if #kind > 1 then
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
-- record from `~stats` to its field `~m<minute modulo 60>`. It adds that to `~totals`, and to the record of
-- its five minutes, `~h<their number modulo 288>`. If the clock was set back by up to an hour, calls count
-- in the minute of `~stats`. Records of a later release stay as they are.
local function count_events(plan)
  -- A record of counts and those in other records. Its form is `1;<minute>;<field>=<number>…`.
  local function record_of(minute, records, counts)
    for field, number in string.gmatch(records, ';(%w+)=(%d+)') do
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
    local settled = not events.reclaimed and (events.completed or events.requeued or events.rejected)
    return events.enqueued and 'cE' or events.dequeued and 'cD' or settled and 'cS' or 'cO'
  end

  if newer(plan.stats) then
    return
  end
  local minute, added = math.floor(plan.now / 60000), plan.counts or {}
  local last = tonumber(string.match(plan.stats, '^1;(%d+)') or 0)
  local begins = last < minute or last > minute + 60
  local first = last - last % 5
  local bucket = '~h' .. int(first / 5 % 288)
  local found = begins and last > 0 and redis.call('HMGET', plan.keys.tasks, '~totals', bucket)
  if found and not newer(found[1]) then
    local totals, history = found[1] or '', found[2] or ''
    local since = math.min(tonumber(string.match(totals, '^1;(%d+)') or last), minute)
    plan.stored_before['~totals'], plan.stored_before[bucket] = found[1] or nil, found[2] or nil
    plan_write(plan, 'HSET tasks', '~m' .. int(last % 60), plan.stats)
    plan_write(plan, 'HSET tasks', '~totals', record_of(since, totals .. ' ' .. plan.stats, {}))
    -- An older record is replaced.
    local begun = string.match(history, '^1;' .. int(first) .. ';.*') or ''
    plan_write(plan, 'HSET tasks', bucket, record_of(first, begun .. ' ' .. plan.stats, {}))
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
  plan.stats = record_of(begins and minute or last, begins and '' or plan.stats, added)
  plan_write(plan, 'HSET tasks', '~stats', plan.stats)
end
