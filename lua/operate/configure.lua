-- configure: sets or removes settings of a queue or a group; limited -> fair if a limit is raised. (I3)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local operator_calls = KEYS[7] -- string  the last calls of operators
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local token = ARGV[2] -- the caller's token, a new one for each call
local group = ARGV[3] -- whose settings; empty: the queue's
local wake = ARGV[4] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local changes = ARGV -- then for each: letter, value (empty: remove; of a pause also
-- `+<ms>`, so long from now, or when it ends at the earliest (ms))
-- Returns {'ok', settings as they now are ('' for none), 1 if the caller must wake a consumer}
--      or {'newer_schema'}

local keys = queue_keys(nil, fair, fair_by_group, limited, nil, delayed, tasks)
local plan = new_plan(keys, clock(test_now))
local field = group == '' and '~set' or '~s:' .. group
local found = redis.call('HMGET', tasks, field, '~groups', '~rate', '~wake', '~set')
plan.settings = parse_settings(found[5] or nil)
if group ~= '' then
  open_groups(plan, { { group = group } })
end
if newer_settings(found[1]) or newer(plan.stored_before['~g:' .. group]) then
  return { 'newer_schema' }
end
local done, notes = earlier_answer(operator_calls, token)
local current = format_settings(parse_settings(found[1], plan.now))

-- 1 if tasks are ready, which a change may have released, and the caller must wake a consumer.
-- awake: the field `~wake`; set: the queue's settings.
local function wakes(awake, set, patience)
  local ready = wake ~= '' and redis.call('EXISTS', pending, fair) > 0
  return ready and record_wake(tasks, { awake, set }, plan.now, wake, patience) and 1 or 0
end

if done then
  -- The earlier copy's reply, and with it the wake, may be lost.
  return { 'ok', current, wakes(found[4], found[5], 0) }
elseif #changes == 4 then
  return { 'ok', current, 0 }
end

local was, settings = parse_settings(current), parse_settings(current)
for i = 5, #changes, 2 do
  local name, value = SETTING_NAMES[changes[i]] or changes[i], changes[i + 1]
  if name == 'paused' and #value > 1 then
    if string.sub(value, 1, 1) == '+' then
      value = int(plan.now + tonumber(value))
    elseif (tonumber(was.paused) or 0) > tonumber(value) then
      value = was.paused
    end
    -- It does not end a pause that lasts until it is resumed.
    if was.paused == '1' then
      value = '1'
    end
  end
  -- If the partition has a share of the limit, the share follows later.
  local total = settings[SHARES] and TOTALS[name]
  settings[total or name] = value ~= '' and value or nil
end

local function recounted(used)
  return was.rate and settings.rate and convert_counts(used, was.rate, settings.rate, plan.now) or ''
end

-- Recent dequeues still count under a new rate. Statistics that are no longer kept are deleted.
local function follow_queue()
  local used = recounted(found[3] or '')
  if used ~= '' then
    plan_write(plan, 'HSET tasks', '~rate', used)
  elseif found[3] then
    plan_write(plan, 'HDEL tasks', '~rate')
  end
  if found[4] and settings.paused ~= was.paused and (tonumber(settings.paused) or 0) > 1 then
    -- Consumers that meet the pause end. When it is over, the next wake must not wait for them.
    plan_write(plan, 'HSET tasks', '~wake', asleep_text(found[4]))
  end
  if was.statistics and not settings.statistics then
    for _, fields in ipairs({ statistics_fields(), history_fields() }) do
      for _, kept in ipairs(fields) do
        plan_write(plan, 'HDEL tasks', kept)
      end
    end
  end
end

-- A limit needs the group's number, by which `limited` is sorted. So do tasks that are still in `limited`
-- without a limit.
local function follow_group()
  local state = plan.groups[group]
  local used = recounted(state.used)
  local has_limits = settings.max_working or settings.rate or settings.paused
  if has_limits and not settings.number then
    settings.number = int(tonumber(found[2] or 0) + 1)
    plan_write(plan, 'HSET tasks', '~groups', settings.number)
  end
  state.settings = parse_group(group, nil, format_settings(settings)).settings
  if state.limited > 0 or state.used ~= used then
    group_of(plan, { group = group }).used = used
    admit_limited(plan)
  end
  if not has_limits and state.limited == 0 then
    settings.number = nil
    if not found[2] then
      -- Its presence says that groups have settings.
      plan_write(plan, 'HSET tasks', '~groups', 0)
    end
  end
end

if group == '' then
  follow_queue()
else
  follow_group()
end
local text = format_settings(settings, plan, group, was, found[5])
if text ~= '' then
  plan_write(plan, 'HSET tasks', field, text)
elseif found[1] then
  plan_write(plan, 'HDEL tasks', field)
end
local failed = commit(plan)
if failed then
  return failed
end
note_call(operator_calls, notes, token, '')
local released = 0
if was.paused and not settings.paused then
  -- Consumers that met the pause have ended, even if they still count as awake.
  released = wakes('', group == '' and text or found[5])
elseif settings.max_working ~= was.max_working or settings.rate ~= was.rate or settings.o ~= was.o then
  released = wakes(found[4], group == '' and text or found[5])
end
return { 'ok', text, released }
