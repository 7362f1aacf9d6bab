-- rename-keys: gives a queue its partition 0: renames the queue's keys to those of the partition, and puts a
-- marker in the place of each. A script on the queue's own keys then fails at its first command. (I1 I3)
local plain_pending = KEYS[1] -- list  of the queue: ids; a string: the marker
local plain_fair = KEYS[2] -- zset  of the queue
local plain_fair_by_group = KEYS[3] -- zset  of the queue
local plain_limited = KEYS[4] -- zset  of the queue
local plain_working = KEYS[5] -- zset  of the queue
local plain_delayed = KEYS[6] -- zset  of the queue
local plain_tasks = KEYS[7] -- hash  of the queue
local plain_expiry = KEYS[8] -- zset  of the queue
local plain_dead = KEYS[9] -- zset  of the queue
local plain_workers = KEYS[10] -- zset  of the queue
local plain_worker_leases = KEYS[11] -- zset  of the queue
local plain_schedules = KEYS[12] -- zset  of the queue
local plain_timetable = KEYS[13] -- hash  of the queue
local plain_operator_calls = KEYS[14] -- string  of the queue; it gets no marker
local pending = KEYS[15] -- list  of partition 0
local fair = KEYS[16] -- zset  of partition 0
local fair_by_group = KEYS[17] -- zset  of partition 0
local limited = KEYS[18] -- zset  of partition 0
local working = KEYS[19] -- zset  of partition 0
local delayed = KEYS[20] -- zset  of partition 0
local tasks = KEYS[21] -- hash  of partition 0
local expiry = KEYS[22] -- zset  of partition 0
local dead = KEYS[23] -- zset  of partition 0
local workers = KEYS[24] -- zset  of partition 0
local worker_leases = KEYS[25] -- zset  of partition 0
local schedules = KEYS[26] -- zset  of partition 0
local timetable = KEYS[27] -- hash  of partition 0
local operator_calls = KEYS[28] -- string  of partition 0
local count = ARGV[1] -- how many partitions the queue is to get at first
-- Returns {'ok', how many partitions the queue was to get at first}
--      or {'newer_schema'}
--      or {'twice'}: tasks are under both names, because Redis has lost an earlier call. Nothing has changed

local marker = redis.pcall('GET', plain_tasks)
if type(marker) == 'string' then
  if newer(marker) then
    return { 'newer_schema' }
  elseif not string.find(marker, '^1;') then
    -- No marker, and no hash: fails as each script does.
    redis.call('HLEN', plain_tasks)
  end
end
local names = {
  { plain_pending, pending },
  { plain_fair, fair },
  { plain_fair_by_group, fair_by_group },
  { plain_limited, limited },
  { plain_working, working },
  { plain_delayed, delayed },
  { plain_tasks, tasks },
  { plain_expiry, expiry },
  { plain_dead, dead },
  { plain_workers, workers },
  { plain_worker_leases, worker_leases },
  { plain_schedules, schedules },
  { plain_timetable, timetable },
}
local unmarked, moving = {}, {}
for _, name in ipairs(names) do
  local found = redis.pcall('GET', name[1])
  if type(found) ~= 'string' then
    append(unmarked, name)
  end
  -- GET fails on each type but that of a marker.
  if type(found) == 'table' then
    append(moving, name)
  end
end
-- No call succeeds that writes one key beside the marker of the tasks. What a failed one has left is dropped.
local failed = type(marker) == 'string' and #moving == 1
local renaming = {}
for _, name in ipairs(moving) do
  if redis.call('EXISTS', name[2]) == 0 then
    append(renaming, name)
  elseif not failed then
    return { 'twice' }
  end
end
for _, name in ipairs(renaming) do
  redis.call('RENAME', name[1], name[2])
end
if type(marker) ~= 'string' then
  marker = '1;' .. count
  if redis.call('EXISTS', plain_operator_calls) == 1 then
    redis.call('RENAME', plain_operator_calls, operator_calls)
  end
end
for _, name in ipairs(unmarked) do
  redis.call('SET', name[1], marker)
end
-- Version 0: partition 0 owns all slots until the first map says otherwise.
redis.call('HSETNX', tasks, '~slots', '1;0;' .. string.rep('f', 64))
return { 'ok', tonumber((string.match(marker, '^1;(%d+)$'))) }
