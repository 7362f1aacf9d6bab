-- list-workers: reads a page of the registered workers, and their leases. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local workers = KEYS[2] -- zset  worker -> when it counts as silent (ms)
local worker_leases = KEYS[3] -- zset  '<worker> <lease number> <id>' of each lease
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local cursor = ARGV[2] -- '0' for the first page, else the cursor of the previous page
local size = ARGV[3] -- about this many workers a page, 1 to 1,000
local most = ARGV[4] -- at most this many ids of each worker's tasks
-- Returns {'ok', now (ms), cursor of the next page ('0': none), then for each:
--          {worker, its record ('': it is being failed), when it is silent (ms), how many tasks it has,
--          then their ids, in the order of their leases}}

local page = redis.call('ZSCAN', workers, cursor, 'COUNT', size)
local keys = queue_keys(nil, nil, nil, nil, nil, nil, tasks, nil, nil, workers, worker_leases)
local names, silent = {}, {}
for i = 1, #page[2], 2 do
  append(names, '~w:' .. page[2][i])
  append(silent, tonumber(page[2][i + 1]))
end
local records = read('HMGET', tasks, names)
local reply = { 'ok', clock(test_now), page[1] }
for i, name in ipairs(names) do
  local worker = string.sub(name, 4)
  local members = leases_of(keys, worker, 0, tonumber(most))
  local count = #members
  if count == tonumber(most) then
    count = redis.call('ZLEXCOUNT', worker_leases, '[' .. worker .. ' ', '(' .. worker .. '!')
  end
  local row = { worker, records[i] or '', silent[i], count }
  for _, member in ipairs(members) do
    append(row, (string.match(member, '%S+$')))
  end
  append(reply, row)
end
return reply
