-- dequeue: pending -> working; promotes and reclaims first if too few are pending. (I2 I4 I5 I6 I8)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[5] -- zset  id -> lease deadline (ms)
local delayed = KEYS[6] -- zset  id -> due (ms)
local tasks = KEYS[7] -- hash  records and control fields
local expiry = KEYS[8] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[9] -- zset  id -> when it was rejected (ms)
local workers = KEYS[10] -- zset  worker -> when it counts as silent (ms)
local worker_leases = KEYS[11] -- zset  '<worker> <lease number> <id>' of each lease
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local max_tasks = ARGV[2] -- at most this many tasks, 1 to 1,000
local lease = ARGV[3] -- lease (ms) of tasks without one of their own
local token = ARGV[4] -- the caller's lease token, a new one for each call
local resend = ARGV[5] -- '1' if an earlier copy of this call may have been sent, or after 'more'
local max_bytes = ARGV[6] -- limit of the bytes of the records in the reply
local worker = ARGV[7] -- '<name> <incarnation>'; empty for none
local info = ARGV[8] -- of the worker: as in `note_worker`
-- Returns {'ok', when more will be ready (ms; 0: not known), then for each task:
--          id, delivery, lease number, deadline (ms), fixed record}; delivery: the attempt, or
--          '<attempt>,<charged attempts>,<expired leases>' if it says more
--      or {'more', now (ms)}: nothing to deliver yet; the same call with resend '1' continues
--      or {'paused', until when (ms; 1: until it is resumed)} | {'newer_schema'}
-- each with one more item if tasks became dead letters, because their last leases had expired:
-- {id, attempts, …}

local max = tonumber(max_tasks)
local slot = slot_of(token, max)
local ids, reads = redis.call('RPOP', pending, max_tasks) or {}, {}
local now_text, reply, ahead, next_due

local function time()
  if not now_text then
    now_text = clock_text(test_now)
  end
  return now_text
end

local plain = PLAIN and worker == '' and #ids <= LEASES
if plain and #ids < max then
  plain, ahead = nothing_due(working, delayed, time)
  if plain then
    next_due = ahead.next_due
  end
end
if plain then
  reads[1] = read_waiting(tasks, slot, ids, 1, slice_end(ids, 1))
  reply = lease_plainly(working, tasks, ids, reads, slot, token, resend, lease, max_bytes, time, next_due)
end
if reply then
  return reply
end

-- Not plain.
local keys = queue_keys(
  pending,
  fair,
  fair_by_group,
  limited,
  working,
  delayed,
  tasks,
  expiry,
  dead,
  workers,
  worker_leases
)
local call = { max = max, slot = slot, lease = lease, token = token, resend = resend, max_bytes = max_bytes }
call.worker, call.info, call.test_now, call.now = worker, info, test_now, now_text and tonumber(now_text)
return dequeue_in_full(keys, call, ids, ahead, reads)
