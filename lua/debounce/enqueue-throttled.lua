-- enqueue-throttled: nothing -> pending | delayed, at most so many tasks of a key in a period. (I1 I3 I7)
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
local key = ARGV[8] -- the throttle key
local most = ARGV[9] -- how many tasks in a period
local per = ARGV[10] -- the period (ms)
local excess = ARGV[11] -- what becomes of the tasks beyond: 'drop', or 'delay' until there is room
-- Returns {'ok', 1 if producers should set with_settings of `enqueue`, else 0, 1 if the caller must wake a
--          consumer, when the task is due (ms; 0 if it is ready, or not known), what happened, the id of the
--          task concerned}
--          What happened: 'created', or 'dropped'; then the id of the last task of the key
--      or {'full'} | {'newer_schema'} | {'reused'} | {'moved'}, as `enqueue`
--      or {'unknown'}: with slots '?', nothing was done

local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry, dead)
local call, refused = open_keyed(keys, test_now, '~T:' .. key, id, when, unique, record, slots)
if not call then
  return refused
end
local draft, known, now = call.draft, call.key, call.plan.now
local answer, old, is_taken = known_keyed(call, wake)
if answer then
  return answer
elseif slots == '?' then
  -- The partition that owns the key now counts anew.
  return { 'unknown' }
end
-- Tasks have their turns one after the other: none passes those that are delayed.
local rate, used, turn_at = most .. '/' .. per, known.used or '', math.max(now, tonumber(known.last_at or 0))
if known.rate and known.rate ~= rate then
  used = convert_counts(used, known.rate, rate, turn_at)
end
local left, next_at = measure_rate(rate, used, turn_at, 0)
local _, period, tenth = parse_rate(rate)
if is_taken or (excess == 'drop' and (left < 1 or turn_at > now)) then
  local keep_until = turn_at + period + 2 * tenth
  return end_keyed(call, wake, 'd', is_taken and id or known.id, 0, keep_until)
elseif left < 1 then
  turn_at = next_at
end
local _, _, counted = measure_rate(rate, used, turn_at, 1)
known.rate, known.used = rate, counted
known.last_at = turn_at > now and int(turn_at) or nil
if turn_at > now then
  draft.due = turn_at + math.max(0, draft.due - now)
end
local full = begin_keyed(call, old, 0)
if full then
  return full
end
return end_keyed(call, wake, nil, id, draft.due, turn_at + period + 2 * tenth)
