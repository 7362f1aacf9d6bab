-- forget-dequeues: removes the slots that remember dequeues, if the queue is empty.
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[4] -- zset  id -> lease deadline (ms)
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
-- Returns {'ok', how many slots were removed}

if redis.call('EXISTS', pending, fair, limited, working, delayed, expiry) > 0 then
  return { 'ok', 0 }
end
return { 'ok', write('HDEL', tasks, all_slots()) }
