-- fail-worker: working -> pending, fair, limited or rejected, for all tasks of a worker. Removes the worker.
-- (I2 I5 I8)
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
local worker = ARGV[2] -- '<name> <incarnation>', or '<name>': all its incarnations
local limit = ARGV[3] -- at most this many tasks, 1 to 1,000
local wake = ARGV[4] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
-- Returns {'ok', how many went back, how many ended, 1 if some are left, 1 if the caller must wake a
--          consumer, then for each new dead letter: id, attempts}
--      or {'newer_schema'}

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
local now = clock(test_now)
local reply = { 'ok', 0, 0, 0, 0 }
local waiting, ended, left, failed, more =
  fail_worker(keys, worker, now, tonumber(limit), reply, 'taken_back')
if failed then
  return failed
elseif left > 0 and waiting + ended == 0 then
  return { 'newer_schema' }
end

local removed = { worker }
if not string.find(worker, ' ', 1, true) then
  removed = {}
  -- Workers are in the order in which they will be silent. Those after the first thousand stay registered
  -- until they are silent.
  for _, registered in ipairs(redis.call('ZRANGE', workers, '0', '999')) do
    append(removed, string.match(registered, '^%S+') == worker and registered or nil)
  end
end
-- Where it runs, for lists: its process may have to be restarted.
local fields, where = {}, {}
for _, name in ipairs(waiting + ended > 0 and removed or {}) do
  append(fields, '~w:' .. name, '~f:' .. name)
end
local found = read('HMGET', tasks, fields)
for i = 1, #fields, 2 do
  local note, info = found[i + 1] or '', string.match(found[i] or '', '^1;%d+(;.*)$')
  if info and string.find(note, '^1;%d+$') then
    append(where, fields[i + 1], note .. info)
  end
end
pcall(write, 'HSET', tasks, where)
unregister_workers(keys, removed, more)
local wakes = wake ~= ''
  and waiting > 0
  and record_wake(tasks, redis.call('HMGET', tasks, '~wake', '~set'), now, wake)
reply[2], reply[3], reply[4], reply[5] = waiting, ended, more and 1 or 0, wakes and 1 or 0
return reply
