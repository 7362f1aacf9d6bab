-- heartbeat: records that a worker is alive and extends its leases: all of them, or those that it names. (I2
-- I3)
local working = KEYS[1] -- zset  id -> lease deadline (ms)
local delayed = KEYS[2] -- zset  id -> due (ms)
local tasks = KEYS[3] -- hash  records and control fields
local workers = KEYS[4] -- zset  worker -> when it counts as silent (ms)
local worker_leases = KEYS[5] -- zset  '<worker> <lease number> <id>' of each lease
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local worker = ARGV[2] -- '<name> <incarnation>'
local info = ARGV[3] -- of the worker: as in `note_worker`
local lease = ARGV[4] -- how long the leases last from now (ms); empty: each as long as at its dequeue
local from = ARGV[5] -- the lease number to begin at; '0' in the first call
local limit = ARGV[6] -- at most this many leases, 1 to 1,000
local named = ARGV[7] -- '1' if the worker names its leases; empty: all of its leases
local leases = ARGV -- then for each that it names, at most 1,000: id, lease number, token
-- Returns {'ok', how many leases, the earliest of their deadlines (ms; 0: none), lease number at which the
--          next call begins (0: no more), how many are to be cancelled, their ids, then of the named leases
--          the ids of those that are not current, or belong to another worker}
--      or {'worker_lost'}: tasks were taken from it, and it has not dequeued since
--      or {'newer_schema'}

local keys = queue_keys(nil, nil, nil, nil, working, delayed, tasks, nil, nil, workers, worker_leases)
local now = clock(test_now)
local most = tonumber(limit)
local names = { '~w:' .. worker, '~f:' .. worker, '~alarm' }
local next_one
local proofs = {} -- place among the names -> number and token of a lease that was named
if named == '1' then
  for i = 8, #leases, 3 do
    append(names, '.' .. leases[i])
    proofs[#names] = leases[i + 1] .. ' ' .. leases[i + 2]
  end
else
  local members = leases_of(keys, worker, from, most + 1)
  next_one = members[most + 1]
  members[most + 1] = nil
  for _, member in ipairs(members) do
    append(names, '.' .. string.match(member, '%S+$'))
  end
end
local found = read('HMGET', tasks, names)
if newer(found[1]) then
  return { 'newer_schema' }
elseif found[2] and not found[1] then
  return { 'worker_lost' }
end

-- True if a lease belongs to this worker, and is the one that the worker named, if it named any. A lease that
-- was taken without a worker belongs to any worker that has its receipt.
local function current(task, proof)
  if task.state ~= STATE.working or (proof and proof ~= task.lease_number .. ' ' .. task.lease_token) then
    return false
  end
  return task.worker == worker or (proof and not task.worker)
end

local deadlines, count, first = {}, 0, 0
local reply, lost = { 'ok', 0, 0, 0, 0 }, {}
for i = 4, #names do
  local id, task = string.sub(names[i], 2), parse(found[i])
  if current(task, proofs[i]) then
    local deadline = now + (tonumber(lease) or tonumber(task.leased_for) or 0)
    deadlines[id], count = deadline, count + 1
    first = math.min(first > 0 and first or deadline, deadline)
    append(reply, task.cancel_requested and id)
  else
    append(lost, proofs[i] and id)
  end
end
reply[5] = #reply - 5
for _, id in ipairs(lost) do
  append(reply, id)
end
put_deadlines(keys, deadlines)
local plan = new_plan(keys, now)
note_worker(plan, worker, info, found[3])
local failed = commit(plan)
if failed then
  return failed
end
reply[2], reply[3] = count, first
reply[4] = next_one and tonumber((string.match(next_one, '(%d+) %S+$'))) or 0
return reply
