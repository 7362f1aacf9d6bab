-- settle_and_dequeue: settle, then dequeue: as these two scripts, and atomic together. (I2 I3 I4 I5 I6 I8)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local order = KEYS[3] -- zset  group, score and id of what is in fair, by name
local held = KEYS[4] -- zset  id -> place behind its group's limit
local working = KEYS[5] -- zset  id -> lease deadline (ms)
local delayed = KEYS[6] -- zset  id -> due (ms)
local tasks = KEYS[7] -- hash  records and control fields
local expiry = KEYS[8] -- zset  id -> when its record goes away (ms)
local dead = KEYS[9] -- zset  id -> when it was rejected (ms)
local workers = KEYS[10] -- zset  worker -> when it is silent (ms)
local hands = KEYS[11] -- zset  worker, lease number and id, by name
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local max_tasks = ARGV[2] -- as of dequeue, like all up to info
local lease = ARGV[3] -- lease (ms) of tasks that fixed none
local token = ARGV[4] -- the caller's lease token, one a call
local resend = ARGV[5] -- '1' if an earlier copy of this call may have been sent
local max_bytes = ARGV[6] -- bound on the bytes of the records in the reply
local worker = ARGV[7] -- '<name> <incarnation>'; empty for none
local info = ARGV[8] -- of the worker: '<silent after, ms>;<node>;<pid>'
local call = ARGV[9] -- as of settle
local items = ARGV -- then for each: id, proof, terms, text; as of settle
-- Returns {the reply of settle, that of dequeue}; {'newer_schema'} for both

local FIRST = 9
local now_text = clock_text(test_now)
local max, slot = tonumber(max_tasks), slot_of(token, tonumber(max_tasks))
local records, settled, ids, ahead

local function time()
  return now_text
end

if PLAIN and worker == '' and max <= LEASES and #items <= FIRST + SETTLEMENT * PLAIN_SETTLEMENTS then
  ids = redis.call('RPOP', pending, max_tasks) or {}
  local last = slice_end(ids, 1)
  local found = read_waiting(tasks, slot, ids, 1, last, append_settled({}, items, FIRST))
  records = { found[3], found[4], unpack(found, CONTROL + 2 * last + 1, #found) }
  settled = complete_plainly(working, tasks, expiry, items, FIRST, records, now_text)
  if not settled then
    -- The settle may put tasks in front of them.
    write('RPUSH', pending, reversed(ids, 1))
    ids = nil
  else
    local plain = true
    if #ids < max then
      plain, ahead = nothing_due(working, delayed, time)
    end
    local next_due = ahead and ahead.next_due
    local reply = plain
      and lease_plainly(working, tasks, ids, { found }, slot, token, lease, max_bytes, time, next_due)
    if reply and #ids == 0 and resend == '1' then
      spend_token(tasks, slot, token)
    end
    if reply then
      return { settled, reply }
    end
  end
end

-- Not plain.
local at = queue_at(pending, fair, order, held, working, delayed, tasks, expiry, dead, workers, hands)
local now = tonumber(now_text)
if not settled then
  records = records or read('HMGET', tasks, append_settled({ '~set', '~stats' }, items, FIRST))
  settled = settle_in_full(at, now, call, items, FIRST, records)
  if settled.err or settled[1] ~= 'ok' then
    return settled
  end
end
local pull = { max = max, slot = slot, lease = lease, token = token, resend = resend, max_bytes = max_bytes }
pull.worker, pull.info, pull.test_now, pull.now = worker, info, test_now, now
-- What was read before the settle may be out of date.
local reply = dequeue_in_full(at, pull, ids, ahead)
return reply.err and reply or { settled, reply }
