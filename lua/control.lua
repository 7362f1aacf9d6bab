-- control: mends what a deep sweep finds in one look among the control fields, and sets right what it
-- counted.
local fair = KEYS[1] -- zset  id -> tag, of tasks of a group or with a priority
local order = KEYS[2] -- zset  group, score and id of what is in fair, by name
local held = KEYS[3] -- zset  id -> place behind its group's limit
local delayed = KEYS[4] -- zset  id -> due (ms)
local tasks = KEYS[5] -- hash  records and control fields
local expiry = KEYS[6] -- zset  id -> when its record goes away (ms)
local workers = KEYS[7] -- zset  worker -> when it is silent (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local lease = ARGV[2] -- the lease counter from before the count
local items = ARGV -- then for each: field (of a count), before (what it said before the count), count
-- Returns {'ok', lease counter, ghosts, timers, broken, {fault, field, …}} | {'newer_schema'}

-- A count goes on while the queue does, and can be off by what comes and goes meanwhile. So it is heeded only
-- where the field says what it said before, and nobody has dequeued.

local at = queue_at(nil, fair, order, held, nil, delayed, tasks, expiry, nil, workers)
local mending = new_mending(at, clock(test_now))
local plan, now = mending.plan, mending.now
local NAMES = { '~lease', '~ghosts', '~timers', '~broken', '~groups', '~alarm', '~set', '~fair' }
local found = {}
for i, value in ipairs(redis.call('HMGET', tasks, unpack(NAMES))) do
  found[NAMES[i]] = value
end
if newer(found['~set']) then
  return { 'newer_schema' }
end

-- Numbers beyond reading stop every call that counts with them. Those that are given out go on far beyond
-- any that can have been.
local beyond = { ['~lease'] = now, ['~groups'] = SPARE_GROUPS }
local limits = { ['~groups'] = MOST_GROUPS }
for i = 1, 6 do
  local name, value = NAMES[i], found[NAMES[i]]
  local readable = value and #value <= 15 and string.find(value, '^%-?%d+$')
  if value and not (readable and tonumber(value) < (limits[name] or LAST)) then
    note(mending, 'control_broken', name)
    found[name] = beyond[name] and int(beyond[name])
    put(mending, name, value, found[name])
  end
end
if found['~set'] then
  mend_settings(mending, '~set', found['~set'], 0)
end

-- Without `~fair` nobody looks into `fair`. A virtual time that is not there, or beyond all others, is that
-- of the task that is next.
local waiting, kept = redis.call('ZCARD', fair), redis.call('ZCARD', held)
local times = parse_clock(found['~fair'])
local lost = not found['~fair'] and waiting > 0
for band = 0, 9 do
  if lost or (times[band] or 0) >= LATEST_TAG then
    local least, before = score_at(band, 0), score_at(band, LATEST_TAG)
    local range = { int(least), '(' .. int(before) }
    local next_in_line =
      redis.call('ZRANGE', fair, range[1], range[2], 'BYSCORE', 'LIMIT', '0', '1', 'WITHSCORES')
    times[band], lost = math.max(0, tonumber(next_in_line[2] or least) - least - SHARE), true
  end
end
if (times.l or 0) >= LATEST_TAG then
  times.l, lost = nil, true
end
if lost or times.h ~= kept then
  times.h = kept
  append(plan.fields, '~fair', format_clock(times))
  note(mending, 'control_broken', '~fair')
end

-- Somebody looks in time for the next worker that is silent.
local least, timer = head(workers), tonumber(finite(redis.call('ZSCORE', delayed, '~w')))
local alarm = tonumber(found['~alarm'])
local first = least and math.max(0, math.min(least, now + LONGEST))
local late = first and (not timer or timer > math.max(first, now) or not alarm or alarm > first)
if late or (timer and not alarm) then
  local when = first or math.floor(timer)
  append(plan.timers, int(when), '~w')
  append(plan.fields, '~alarm', int(when))
  note(mending, 'timer_wrong', '~alarm')
elseif alarm and not timer then
  put(mending, '~alarm', alarm)
  note(mending, 'timer_wrong', '~alarm')
end

local counter = tonumber(found['~lease'] or 0)
for i = 3, #items, 3 do
  local field, before, count = items[i], tonumber(items[i + 1]), tonumber(items[i + 2])
  local says = tonumber(found[field] or 0)
  if field == '~broken' then
    -- What was put aside before the sweep began, the sweep has found.
    put(mending, field, found[field], says > before and int(says - before))
  elseif says == before and says ~= count and counter == tonumber(lease) then
    put(mending, field, found[field], count > 0 and int(count))
    note(mending, field == '~ghosts' and 'ghosts_wrong' or 'timer_wrong', field)
  end
end

local failed = write_mended(mending)
local counts = redis.call('HMGET', tasks, unpack(NAMES, 1, 4))
for i = 1, 4 do
  counts[i] = tonumber(counts[i] or 0)
end
return failed or { 'ok', counts[1], counts[2], counts[3], counts[4], mending.report }
