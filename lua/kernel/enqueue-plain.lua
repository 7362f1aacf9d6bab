-- enqueue-plain: nothing -> pending. The common case: tasks for now, without group and priority. (I1 I3 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local tasks = KEYS[2] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local with_settings = ARGV[2] -- '1' to read the queue's settings for one task too; '': only for others
local wake = ARGV[3] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local slots = ARGV[4] -- '-' if the queue has partitions, and any may have the tasks; '': it has none
local new = ARGV -- then for each task, at most 490: id, record from options, as in `enqueue`
-- Returns {'ok', 0 if the queue has no settings that concern enqueues, -1 if this call has not read them,
--          1 if the caller must wake a consumer, else 0}: all tasks were created
--      or {'not_plain'}: nothing was written. The queue has such settings, an id is known or given twice, or
--          Redis is full. The caller sends the tasks with `enqueue`

local STRIDE = 2
-- How many arguments are in front of the tasks.
local FRONT = 4
local now_text = clock_text(test_now)

-- Whether settings concern an enqueue: maxPending, events, statistics, and with a wake also a pause.
local function concern(settings)
  return settings
    and (
      string.find(settings, '^1;') == nil
      or string.find(settings, ';[bes]=') ~= nil
      or (wake ~= '' and string.find(settings, ';p=') ~= nil)
    )
end

if not PLAIN then
  return { 'not_plain' }
elseif #new == FRONT + STRIDE and with_settings ~= '1' and wake == '' then
  local id, record = new[FRONT + 1], new[FRONT + 2]
  local made = redis.pcall('HSETNX', tasks, id, '1;' .. now_text .. record)
  if made ~= 1 then
    -- A marker is in the place of the hash.
    local has_marker = made ~= 0 and string.find(made.err, 'WRONGTYPE', 1, true)
    return has_marker and made or { 'not_plain' }
  end
  redis.call('LPUSH', pending, id)
  return { 'ok', -1, 0 }
end

local names, ids, fields, met, woken = { '~set', '~slots', '~wake' }, {}, {}, {}, 0
for i = 1, (#new - FRONT) / STRIDE do
  local id, record = unpack(new, STRIDE * i + FRONT - 1, STRIDE * i + FRONT)
  if met[id] then
    return { 'not_plain' }
  end
  met[id], ids[i], names[i + 3] = true, id, id
  fields[2 * i - 1], fields[2 * i] = id, '1;' .. now_text .. record
end
local stored = read_first_lines(tasks, names)
local lost = slots == '-' and not noted_slots(stored['~slots'])
if concern(stored['~set']) or lost then
  return { 'not_plain' }
end
for _, id in ipairs(ids) do
  if stored[id] then
    return { 'not_plain' }
  end
end
local now = tonumber(now_text)
if wake ~= '' and nobody_awake(stored['~wake'], now) then
  woken = 1
  append(fields, '~wake', awake_text(now, wake))
end
if type(redis.pcall('HSET', tasks, unpack(fields))) ~= 'number' then
  return { 'not_plain' }
end
redis.call('LPUSH', pending, unpack(ids))
return { 'ok', 0, woken }
