-- enqueue-debounced: nothing -> delayed, or another payload for the task that waits under the key. (I1 I3 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[8] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local wake = ARGV[2] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local slots = ARGV[3] -- as `enqueue` takes it; '?': only if this partition, a former one, has the task
local id = ARGV[4] -- of the task; the next three are as `enqueue` takes them
local when = ARGV[5] -- when it is due
local unique = ARGV[6] -- empty or 'again'
local record = ARGV[7] -- its record from options on, with the token of its producer
local key = ARGV[8] -- the debounce key
local wait = ARGV[9] -- how long (ms) after the last call the task is due
local max_wait = ARGV[10] -- how long (ms) after the first call it is due at the latest; empty for no bound
local keep = ARGV[11] -- which payload: 'last', 'first' or 'all', which is 'j[' JSON ']'
local sealed = ARGV[12] -- '1' if the payload is bound to the id, '2' if that is of the key's task; else empty
-- Returns {'ok', 1 if producers should set with_settings of `enqueue`, else 0, 1 if the caller must wake a
--          consumer, when the task is due (ms; 0 if it is ready, or not known), what happened, the id of the
--          task concerned}
--          What happened: 'created', 'replaced', 'dropped' (the payload; the wait begins anew) or 'appended'
--      or {'full'} | {'newer_schema'} | {'reused'} | {'moved'}, as `enqueue`
--      or {'unknown'}: with slots '?', nothing was done
--      or {'seal', id}: the payload must be bound to this id; '': to a new one

-- The most payloads of a list, and its most bytes of JSON.
local MOST_PAYLOADS = 1000
local MOST_BYTES = 1048576
-- How long (ms) a key is known after its task is due. A task that has not begun until then keeps its payload.
local KNOWN_FOR = 3600000
local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry, dead)
local call, refused = open_keyed(keys, test_now, '~D:' .. key, id, when, unique, record, slots)
if not call then
  return refused
end
local draft, known, now = call.draft, call.key, call.plan.now
draft.due = now + tonumber(wait)
local answer, old, is_taken = known_keyed(call, wake)
if answer then
  return answer
end
local at, newer_reply = find_task(call, known.id, known.enqueued_at or '')
if newer_reply then
  return newer_reply
elseif at and at.has_begun then
  at = nil
end
-- How many payloads the list has that is the payload of a task; 0 if that is none.
local function count_payloads(fixed)
  return tonumber(string.match(first_line(fixed), ';n=(%d+)') or 0)
end

-- The record of a list that has so many.
local function with_count(fixed, count)
  local line = first_line(fixed)
  local front = string.gsub(line, ';n=%d+', '')
  return string.sub(front, 1, -2) .. ';n=' .. int(count) .. string.sub(fixed, #line)
end

-- A list with one more payload: its record, and how many it has. Nothing if it has no room, or the payload so
-- far cannot be in a list.
local function appended()
  local fixed, count = at.fixed, count_payloads(at.fixed)
  local front, new = #without_payload(fixed), #without_payload(draft.fixed)
  if string.sub(fixed, front + 1, front + 1) ~= 'j' or count >= MOST_PAYLOADS then
    return nil, nil
  elseif count == 0 then
    fixed = string.sub(fixed, 1, front + 1) .. '[' .. string.sub(fixed, front + 2) .. ']'
    count = 1
  end
  local list = string.sub(fixed, 1, -2) .. ',' .. string.sub(draft.fixed, new + 3)
  if #list - front - 1 > MOST_BYTES then
    return nil, nil
  end
  return with_count(list, count + 1), count + 1
end

local bytes = keep == 'all' and 64000 or 2000
if at then
  -- A task that is due stays so, and one whose place is in line keeps it.
  local due = at.due
  if due > now then
    due =
      math.min(draft.due, max_wait ~= '' and tonumber(at.task.enqueued_at) + tonumber(max_wait) or draft.due)
    due = math.max(due, now)
  end
  if keep == 'first' then
    change_task(call, at, at.fixed, due)
    return end_keyed(call, wake, 'd', at.id, due, math.max(due, now) + KNOWN_FOR, bytes)
  elseif keep == 'last' and sealed ~= '' and at.id ~= id then
    return { 'seal', at.id }
  elseif keep == 'last' then
    change_task(call, at, replaced_record(at, draft.fixed), due)
    return end_keyed(call, wake, 'r', at.id, due, math.max(due, now) + KNOWN_FOR, bytes)
  end
  local list, count = appended()
  if list then
    due = count < MOST_PAYLOADS and due or now
    change_task(call, at, list, due)
    return end_keyed(call, wake, 'a', at.id, due, math.max(due, now) + KNOWN_FOR, bytes)
  end
  -- It is full: it starts at once, and another one begins.
  change_task(call, at, at.fixed, now)
end
if slots == '?' then
  return leave_to_owner(call)
elseif is_taken and sealed == '2' then
  return { 'seal', '' }
elseif is_taken then
  return end_keyed(call, wake, 'd', id, 0, now + KNOWN_FOR)
end
if max_wait ~= '' then
  draft.due = math.min(draft.due, now + tonumber(max_wait))
end
if keep == 'all' then
  draft.fixed = with_count(draft.fixed, 1)
end
local full = begin_keyed(call, old, 0)
if full then
  return full
end
return end_keyed(call, wake, nil, id, draft.due, draft.due + KNOWN_FOR)
