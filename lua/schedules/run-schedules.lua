-- run-schedules: nothing -> pending, for each occurrence of due schedules; sets their next occurrence. A
-- schedule that has changed since the caller read it is left alone, so each occurrence is enqueued once. (I1
-- I3 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local schedules = KEYS[7] -- zset  schedule -> its next occurrence (ms)
local timetable = KEYS[8] -- hash  records of schedules, and their recurring tasks
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local items = ARGV -- then for each: name, at (its next occurrence, ms), record, times, following
-- at, record: as read; times: its due occurrences (ms), separated by spaces; '=' and the last of them if the
-- caller has enqueued them in other partitions
-- following: the one after them (ms)
-- Returns {'ok', 1 if the queue is full, then for each: how many tasks were added, its next occurrence
--          (ms; -1: it has changed since it was read, -2: it has no task, -3: its tasks have a group, and so
--          belong to the partition that owns its slot), and after -3 the recurring task}
--      or {'newer_schema'}

local STRIDE = 5
local MAX_BYTES = 8000000
-- How many recurring tasks are read at once, because Redis returns their payloads too.
local READ = 16

local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks)
local plan = new_plan(keys, clock(test_now))
local count = (#items - 1) / STRIDE
local names, fields = {}, { '~set', '~stats', '~ghosts', '~dropped', '~slots' }
for i = 1, count do
  local name, _, _, times = unpack(items, STRIDE * i - 3, STRIDE * i)
  names[i] = name
  for time in string.gmatch(times, '%d+') do
    fields[#fields + 1] = name .. '.' .. time
  end
end
local stored = read_first_lines(tasks, fields)
if newer(stored['~slots']) or read_settings(plan, stored['~set'], stored['~stats']) then
  return { 'newer_schema' }
end
local scores = redis.call('ZMSCORE', schedules, unpack(names))
local room_left, bytes, full = places_left(plan.settings, keys, stored), 0, false

-- The letters of a schedule's record that this script changes: `o`, its last occurrence (ms).
local SCHEDULE_FIELDS = { o = 'last_occurrence' }

-- The record of a schedule and its recurring task. Reads a few at a time.
local found = {}
local function schedule_and_task(i)
  if (i - 1) % READ == 0 then
    local wanted = {}
    for j = i, math.min(i + READ - 1, count) do
      append(wanted, '.' .. names[j], names[j])
    end
    found = redis.call('HMGET', timetable, unpack(wanted))
  end
  local place = 2 * ((i - 1) % READ)
  return found[place + 1], found[place + 2]
end

-- The fixed record of an occurrence: its time goes into the last header, which the task has empty.
local function record_of(task, time)
  local stop = string.find(task, '\n', 1, true) or 0
  local line, rest = string.sub(task, 1, stop - 1), string.sub(task, stop + 1)
  local size = stop > 0 and tonumber((string.match(line, ';h=(%d+)')))
  if not size then
    return nil
  end
  local longer = string.gsub(line, ';h=%d+', ';h=' .. int(size + #time))
  local headers = string.sub(rest, 1, size - 2) .. time .. string.sub(rest, size - 1, size)
  return '1;' .. int(plan.now) .. longer .. '\n' .. headers .. string.sub(rest, size + 1)
end

-- Adds the occurrences of one schedule to the plan, as many as there is room for. Returns how many tasks it
-- adds, the last occurrence, and the next one.
local function enqueue_due(i, task)
  local name, _, _, times, following = unpack(items, STRIDE * i - 3, STRIDE * i + 1)
  local added, last = 0, nil
  for time in string.gmatch(times, '%d+') do
    local id = name .. '.' .. time
    -- An id that is known already is this occurrence.
    if not stored[id] then
      local record = record_of(task, time)
      if not record then
        return 0, nil, '-2'
      elseif room_left < 1 or bytes > MAX_BYTES then
        full = full or room_left < 1
        return added, last, time
      end
      local options = parse_fixed(record)
      open_groups(plan, { options })
      plan_write(plan, 'HSET tasks', id, record)
      make_ready(plan, id, options, 'back')
      note_event(plan, 'enqueued', id)
      added = added + 1
      bytes, room_left = bytes + #record, room_left - 1
    end
    last = time
  end
  return added, last, following
end

local reply, set, moved = { 'ok', 0 }, {}, {}
for i = 1, count do
  local read_at, read_record, times, after = unpack(items, STRIDE * i - 2, STRIDE * i + 1)
  local added, last, following, to_place = 0, nil, read_at, nil
  if bytes <= MAX_BYTES then
    local record, task = schedule_and_task(i)
    if record ~= read_record or tonumber(scores[i] or -1) ~= tonumber(read_at) then
      following = '-1'
    elseif string.sub(times, 1, 1) == '=' then
      last = string.sub(times, 2)
      following = after
    elseif stored['~slots'] and string.find(task or '', '^[^\n]*;G=') then
      following, to_place, bytes = '-3', task, bytes + #task
    else
      added, last, following = enqueue_due(i, task or '')
    end
    if last then
      local schedule = parse_named(record, SCHEDULE_FIELDS)
      schedule.last_occurrence = last
      append(set, '.' .. names[i], format_named(schedule, SCHEDULE_FIELDS))
      append(moved, following, names[i])
    end
  end
  append(reply, added, tonumber(following))
  append(reply, to_place)
end
reply[2] = full and 1 or 0

finish_plan(plan)
local failed = store_or_undo(plan, { ['~stats'] = stored['~stats'] })
if failed then
  return failed
end
commit(plan)
write('HSET', timetable, set)
write('ZADD', schedules, moved)
return reply
