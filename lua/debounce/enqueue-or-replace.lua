-- enqueue-or-replace: nothing -> pending | delayed, or another payload and options for a task with this id
-- that has not begun. (I1 I3 I7)
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
-- Returns {'ok', 1 if producers should set with_settings of `enqueue`, else 0, 1 if the caller must wake a
--          consumer, when the task is due (ms; 0 if it is ready, or not known), what happened, the id of the
--          task concerned}
--          What happened: 'created', 'replaced', or 'dropped' if the task has begun
--      or {'full'} | {'newer_schema'} | {'reused'} | {'moved'}, as `enqueue`
--      or {'unknown'}: with slots '?', nothing was done

local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry, dead)
local call, refused = open_keyed(keys, test_now, '~I:' .. id, id, when, unique, record, slots)
if not call then
  return refused
end
local draft, now = call.draft, call.plan.now
local answer, old, is_known = known_keyed(call, wake)
if answer then
  return answer
elseif slots == '?' and not is_known then
  return { 'unknown' }
elseif is_known then
  local at, newer_reply = find_task(call, id, nil)
  if newer_reply then
    return newer_reply
  elseif not at or at.has_begun then
    return end_keyed(call, wake, 'd', id, 0, now)
  end
  return replace_task(call, at) or end_keyed(call, wake, 'r', id, draft.due, now)
end
-- The task remembers the call that creates it.
return begin_keyed(call, old, 0) or reply_keyed(call, wake, 'created', id, draft.due)
