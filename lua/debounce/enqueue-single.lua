-- enqueue-single: nothing -> pending | delayed, if no other task of the key waits, or is unfinished. (I1 I3
-- I7)
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
local key = ARGV[8] -- the singleton key
local blocks = ARGV[9] -- which task of the key is in the way: one that is 'waiting' or 'unfinished'
local action = ARGV[10] -- what happens then: 'drop', 'replace' or 'cancel'
local sealed = ARGV[11] -- '1' if the payload is bound to the id, '2' if that is of the key's task; else empty
-- Returns {'ok', 1 if producers should set with_settings of `enqueue`, else 0, 1 if the caller must wake a
--          consumer, when the task is due (ms; 0 if it is ready, or not known), what happened, the id of the
--          task concerned}
--          What happened: 'created', 'replaced' or 'dropped'
--      or {'full'} | {'newer_schema'} | {'reused'} | {'moved'}, as `enqueue`
--      or {'unknown'}: with slots '?', nothing was done
--      or {'seal', id}: the payload must be bound to this id; '': to a new one

-- How long (ms) a key is known after its last call and after its task is due.
local KNOWN_FOR = 604800000
local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry, dead)
local call, refused = open_keyed(keys, test_now, '~S:' .. key, id, when, unique, record, slots)
if not call then
  return refused
end
local draft, known, now = call.draft, call.key, call.plan.now
local answer, old, is_taken = known_keyed(call, wake)
if answer then
  return answer
end
local at, newer_reply = find_task(call, known.id, known.enqueued_at or '')
if newer_reply then
  return newer_reply
elseif at and at.has_begun and (blocks == 'waiting' or action == 'replace') then
  -- One that works cannot be replaced: another one waits beside it.
  at = nil
end
local freed = 0
if at and action == 'replace' and sealed ~= '' and at.id ~= id then
  return { 'seal', at.id }
elseif at and action == 'replace' then
  return replace_task(call, at)
    or end_keyed(call, wake, 'r', at.id, draft.due, math.max(now, draft.due) + KNOWN_FOR)
elseif at and action == 'drop' then
  return end_keyed(call, wake, 'd', at.id, 0, math.max(now, at.due or 0) + KNOWN_FOR)
elseif is_taken and sealed == '2' then
  return { 'seal', '' }
elseif is_taken then
  return end_keyed(call, wake, 'd', id, 0, now + KNOWN_FOR)
elseif at and action == 'cancel' then
  if at.task.state == STATE.waiting and at.due <= now then
    freed = 1
  end
  cancel_task(call, at)
end
if slots == '?' then
  return leave_to_owner(call)
end
local full = begin_keyed(call, old, freed)
if full then
  return full
end
return end_keyed(call, wake, nil, id, draft.due, math.max(now, draft.due) + KNOWN_FOR)
