-- enqueue-and-lease: nothing -> working, for a consumer that begins with the tasks at once; or nothing ->
-- pending, as `enqueue-plain`. (I1 I2 I3 I4 I7 I8)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local working = KEYS[2] -- zset  id -> lease deadline (ms)
local tasks = KEYS[3] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local wake = ARGV[2] -- how long (ms) the consumer counts as awake
local lease = ARGV[3] -- lease (ms) of tasks without one of their own; '' if no task may be leased
local token = ARGV[4] -- the caller's lease token, a new one for each call
local new = ARGV -- then for each task, at most 32: id, record from options, as in `enqueue`
-- Returns {'leased', when they were enqueued (ms), then for each task: lease number, deadline (ms)}: nothing
--          else was ready, and no consumer counted as awake. Also for a copy of such a call, while it has the
--          leases
--      or {'ok', how long (ms) a consumer counts as awake; 0: the caller must wake one}: all are pending
--      or {'known'}: nothing was written, because an id is known or given twice. The caller sends the tasks
--          with `enqueue`, as after the next answer
--      or {'not_plain'}: nothing was written. The queue has settings that concern enqueues, or Redis is full

-- How many arguments are in front of the tasks.
local FRONT = 4
local NO_LIMIT = '9007199254740991'
local now_text = clock_text(test_now)
local ids, fields = read_plain_tasks(new, FRONT, now_text)
if not PLAIN then
  return { 'not_plain' }
elseif not ids then
  return { 'known' }
end

local slot = slot_of(token, #ids)
local found = read_waiting(tasks, slot, ids, 1, #ids)
if found.err then
  return found
end
local settings, awake = found[3], found[8]
local now = tonumber(now_text)
local known, leased = 0, { 'leased', now }
for i = 1, #ids do
  local place = CONTROL + 2 * i - 1
  local fixed, record = found[place], found[place + 1]
  local _, _, _, _, number, holder, dequeued_at = string.match(record or '', WORKING_RECORD)
  if fixed or record then
    known = known + 1
  end
  if holder == token then
    local length = string.match(fixed or '', '^[^\n]*;l=(%d+)') or lease
    leased[2] = tonumber(dequeued_at)
    append(leased, tonumber(number), tonumber(dequeued_at) + tonumber(length))
  end
  found[place] = fields[2 * i]
end
if known > 0 then
  -- A copy of this call gets the same answer as long as all its leases last.
  return #leased == 2 + 2 * #ids and leased or { 'known' }
elseif concerns_enqueues(settings, true) then
  return { 'not_plain' }
end

local _, awake_until = parse_wake(awake or '')
local left, must_wake = awake_until - now, nobody_awake(awake or '', now)
if must_wake then
  left = 0
  append(fields, '~wake', awake_text(now, wake, awake))
end
-- Anything that waits is older than these tasks. In a queue with settings or groups, `lease_plainly` leases
-- nothing.
if must_wake and lease ~= '' and redis.call('EXISTS', pending) == 0 then
  local function time()
    return now_text
  end
  found[8] = false
  local reply =
    lease_plainly(working, tasks, ids, { found }, slot, token, '', lease, NO_LIMIT, time, nil, fields)
  if reply then
    for i = 5, #reply, 5 do
      append(leased, reply[i], reply[i + 1])
    end
    return leased
  end
end
return put_in_line(pending, tasks, ids, fields) and { 'ok', left } or { 'not_plain' }
