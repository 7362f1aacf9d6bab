-- enqueue-and-wake: as `enqueue-plain`, and records that a consumer is woken if none counts as awake. (I1 I3
-- I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local tasks = KEYS[2] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local window = ARGV[2] -- how long (ms) a wake of a consumer counts
local if_empty = ARGV[3] -- '1' to look who is awake only if no other task waits; '' to look
local new = ARGV -- then for each task, at most 490: id, record from options, as in `enqueue`
-- Returns {'ok', 0 if the queue has no settings that concern enqueues, -1 if this call has not read them, how
--          long (ms) a consumer counts as awake; 0: the caller must wake one; -1: not known}: all tasks were
--          created
--      or {'not_plain'}: as in `enqueue-plain`

-- How many arguments are in front of the tasks.
local FRONT = 3
local now_text = clock_text(test_now)
if not PLAIN then
  return { 'not_plain' }
elseif #new == FRONT + PLAIN_STRIDE and if_empty == '1' then
  local id, record = new[FRONT + 1], new[FRONT + 2]
  local reply = store_alone(tasks, id, record, now_text)
  if reply then
    return reply
  elseif redis.call('LPUSH', pending, id) > 1 then
    return { 'ok', -1, -1 }
  end
  local found = redis.call('HMGET', tasks, '~wake', '~set')
  local now, paused = tonumber(now_text), tonumber(string.match(found[2] or '', ';p=(%d+)') or 0)
  if paused == 1 or paused > now or not nobody_awake(found[1] or '', now) then
    return { 'ok', -1, -1 }
  end
  -- If Redis has no room for this, the next enqueue wakes too.
  redis.pcall('HSET', tasks, '~wake', awake_text(now, window, found[1]))
  return { 'ok', -1, 0 }
end

local ids, fields = read_plain_tasks(new, FRONT, now_text)
local stored = ids and read_first_lines(tasks, { '~set', '~wake', unpack(ids) })
if not ids or any_known(stored, ids) or concerns_enqueues(stored['~set'], true) then
  return { 'not_plain' }
end
local now = tonumber(now_text)
local _, awake = parse_wake(stored['~wake'])
local left = awake - now
if nobody_awake(stored['~wake'], now) then
  left = 0
  append(fields, '~wake', awake_text(now, window, stored['~wake']))
end
return put_in_line(pending, tasks, ids, fields) and { 'ok', 0, left } or { 'not_plain' }
