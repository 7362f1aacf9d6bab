-- head: how long the first task of a partition has waited, and when more will be ready. Changes nothing.
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[4] -- zset  id -> lease deadline (ms)
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
-- Returns {'ok', when the first of its ready tasks was enqueued (ms; 0: none is ready), when the first
--          delayed task is due or lease expires (ms; 0: never; 1: at any time, when a holder settles and so
--          makes room for a task of its group)}

local ids = {}
append(ids, redis.call('LINDEX', pending, '-1') or nil, redis.call('ZRANGE', fair, '0', '0')[1])
local oldest
for _, record in ipairs(read('HMGET', tasks, ids)) do
  -- A ghost has no record. A task may be behind it, so it counts as old.
  local enqueued_at = tonumber((string.match(record or '', '^1;(%d+)')) or 1)
  oldest = math.min(oldest or enqueued_at, enqueued_at)
end
if oldest then
  return { 'ok', oldest, 0 }
end
local deadline = lowest_score(working)
if deadline and redis.call('EXISTS', limited) == 1 then
  return { 'ok', 0, 1 }
end
local due = lowest_score(delayed)
return { 'ok', 0, math.min(deadline or due or 0, due or deadline or 0) }
