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
local items = ARGV -- then for each: field (of a count), came, gone, count
-- came, gone: what its two fields said before the count
-- Returns {'ok', ~ghosts, ~dropped, ~timers, ~rung, ~broken, ~mended, {fault, field, …}} | {'newer_schema'}

-- A count goes on while the queue does, and can be off by what comes and goes meanwhile. So it is heeded only
-- where both fields say what they said before: as neither ever goes down, nothing has come or gone.

local at = queue_at(nil, fair, order, held, nil, delayed, tasks, expiry, nil, workers)
local mending = new_mending(at, clock(test_now))
local plan, now = mending.plan, mending.now
local NUMBERS =
  { '~lease', '~groups', '~alarm', '~ghosts', '~dropped', '~timers', '~rung', '~broken', '~mended' }
local NAMES = { '~set', '~fair', unpack(NUMBERS) }
local found = {}
for i, value in ipairs(redis.call('HMGET', tasks, unpack(NAMES))) do
  found[NAMES[i]] = value
end
if newer(found['~set']) then
  return { 'newer_schema' }
end

-- Numbers beyond reading stop every call that counts with them. Those that are given out go on far beyond
-- any that can have been.
local beyond = { ['~lease'] = now, ['~groups'] = SPARE_GROUPS, ['~broken'] = tonumber(found['~mended'] or 0) }
local limits = { ['~groups'] = MOST_GROUPS }
for _, name in ipairs(NUMBERS) do
  local value = found[name]
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
local first, timer = head(workers), tonumber(redis.call('ZSCORE', delayed, '~w'))
local alarm = tonumber(found['~alarm'])
first = first and math.max(0, math.min(first, now + LONGEST))
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

-- By the field that counts what came: the one that counts what has gone.
local GONE = { ['~ghosts'] = '~dropped', ['~timers'] = '~rung', ['~broken'] = '~mended' }

for i = 2, #items, 4 do
  local field, other = items[i], GONE[items[i]]
  local came, gone, count = tonumber(items[i + 1]), tonumber(items[i + 2]), tonumber(items[i + 3])
  local says, less = tonumber(found[field] or 0), tonumber(found[other] or 0)
  if field == '~broken' then
    -- What was put aside before the sweep began, the sweep has found.
    put(mending, other, found[other], came > less and int(came) or found[other])
  elseif says == came and less == gone and says - less ~= count then
    local raised = says - less < count and field or other
    put(mending, raised, found[raised], int(raised == field and less + count or says - count))
    note(mending, field == '~ghosts' and 'ghosts_wrong' or 'timer_wrong', field)
  end
end

local failed = write_mended(mending)
local reply = { 'ok' }
for i, value in ipairs(redis.call('HMGET', tasks, unpack(NUMBERS, 4))) do
  reply[i + 1] = tonumber(value or 0)
end
reply[#reply + 1] = mending.report
return failed or reply
