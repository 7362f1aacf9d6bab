-- settle: working -> completed | rejected | pending | delayed, or stays with a later deadline (extend).
-- Only the holder of the current lease. (I2 I3 I5 I8)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[5] -- zset  id -> lease deadline (ms)
local delayed = KEYS[6] -- zset  id -> due (ms)
local tasks = KEYS[7] -- hash  records and control fields
local expiry = KEYS[8] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[9] -- zset  id -> when it was rejected (ms)
local worker_leases = KEYS[10] -- zset  '<worker> <lease number> <id>' of each lease
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local call = ARGV[2] -- the caller's token, a new one for each call; empty if no extend has progress
local items = ARGV -- then for each: id, proof ('<lease number>,<token>'), terms, text
-- terms: one of
--   'complete' or 'reject', then how long to keep the record (ms) if not as the task says
--   'requeue', then the delay (ms), then 'uncounted' if the attempt does not count
--   'unstarted': handed back, so it goes to the front, or its old place in `fair`; the attempt does not count
--   'extend', then the lease (ms) if not the task's own; text is the progress
-- Returns {'ok', then for each: 'completed', or {state ('lost' and 'newer' too), reason, deadline or due
--          (ms; 0: none), 1 if to be cancelled}} or {'newer_schema'}

local now_text = clock_text(test_now)
local records = read('HMGET', tasks, append_settled({ '~set', '~stats' }, items, 2))
local reply, fields, ids
if PLAIN then
  reply, fields, ids = complete_plainly(working, expiry, items, 2, records, now_text)
end
if reply and store_completed(tasks, expiry, fields, ids) then
  return reply
end

-- Not plain.
local keys =
  queue_keys(pending, fair, fair_by_group, limited, working, delayed, tasks, expiry, dead, nil, worker_leases)
return settle_in_full(keys, tonumber(now_text), call, items, 2, records)
