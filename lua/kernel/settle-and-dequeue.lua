-- settle-and-dequeue: settle, then dequeue, in one transition. (I2 I3 I4 I5 I6 I8)
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
local max_tasks = ARGV[2] -- as in dequeue, like all up to info
local lease = ARGV[3] -- lease (ms) of tasks without one of their own
local token = ARGV[4] -- the caller's lease token, a new one for each call
local resend = ARGV[5] -- '1' if an earlier copy of this call may have been sent
local max_bytes = ARGV[6] -- limit of the bytes of the records in the reply
local worker = ARGV[7] -- '<name> <incarnation>'; empty for none
local info = ARGV[8] -- of the worker: as in `note_worker`
local look_after = ARGV[9] -- how long (ms) a plain call relies on the last look for what is due; '': it looks
local call = ARGV[10] -- as in settle
local items = ARGV -- then for each: id, proof, terms, text; as in settle
-- Returns {the reply of settle, that of dequeue}; {'newer_schema'} for both

local FIRST = 10
local now_text, max = clock_text(test_now), tonumber(max_tasks)
local slot = slot_of(token, max)
local records, settled, ids, reply, ahead

-- Completing puts no task at the front of the list, so ids may be taken off before the settle.
local plain = PLAIN and worker == '' and #items + 2 * max <= SLICE
for i = FIRST + 3, #items, SETTLEMENT do
  plain = plain and items[i] == 'complete'
end
-- One command stores the records of completed and of leased tasks.
if plain then
  local function time()
    return now_text
  end
  local now, next_due = tonumber(now_text), nil
  ids = redis.call('RPOP', pending, max_tasks)
  if not ids then
    ids = {}
  end
  local last = slice_end(ids, 1)
  local found = read_waiting(tasks, slot, ids, 1, last, append_settled({}, items, FIRST))
  records = { found[3], found[4], unpack(found, CONTROL + 2 * last + 1, #found) }
  local completed, fields, ended
  if not found.err then
    completed, fields, ended = complete_plainly(working, expiry, items, FIRST, records, now_text)
  end
  local reads = { found }
  plain = completed
  if plain and #ids < max then
    local sent, awake_until, window, looked = parse_wake(found[CONTROL])
    next_due = 0
    if look_after == '' or now < looked or now >= looked + tonumber(look_after) then
      plain, ahead = nothing_due(working, delayed, time)
      if plain then
        next_due = ahead.next_due
      end
      if plain and look_after ~= '' then
        found[CONTROL] = format_wake(sent, awake_until, window, now)
        if awake_until == 0 then
          append(fields, '~wake', found[CONTROL])
        end
      end
    end
  end
  if plain then
    reply =
      lease_plainly(working, tasks, ids, reads, slot, token, resend, lease, max_bytes, time, next_due, fields)
  end
  if reply then
    return { completed, reply }
  end
  if completed and store_completed(tasks, expiry, fields, ended) then
    settled = completed
  else
    ahead = nil
    if found.err then
      records = nil
    end
  end
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
local dequeue_call =
  { max = max, slot = slot, lease = lease, token = token, resend = resend, max_bytes = max_bytes }
dequeue_call.worker, dequeue_call.info, dequeue_call.test_now = worker, info, test_now
dequeue_call.now = tonumber(now_text)
if not settled then
  local fine, answer = pcall(function()
    if not records then
      records = read('HMGET', tasks, append_settled({ '~set', '~stats' }, items, FIRST))
    end
    return settle_in_full(keys, dequeue_call.now, call, items, FIRST, records)
  end)
  if fine then
    settled = answer
  else
    settled = error_reply_for(answer)
  end
  if settled.err or settled[1] ~= 'ok' then
    write('RPUSH', pending, reversed(ids or {}, 1))
    return settled
  end
end
-- Records that were read before the settle may be outdated.
reply = dequeue_in_full(keys, dequeue_call, ids, ahead)
return reply.err and reply or { settled, reply }
