-- list-workers: reads a page of the registered workers, and their leases; on the first page also those that
-- were failed and have not come back. Changes nothing.
local working = KEYS[1] -- zset  id -> lease deadline (ms)
local tasks = KEYS[2] -- hash  records and control fields
local workers = KEYS[3] -- zset  worker -> when it counts as silent (ms)
local worker_leases = KEYS[4] -- zset  '<worker> <lease number> <id>' of each lease
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local cursor = ARGV[2] -- '0' for the first page, else the cursor of the previous page
local size = ARGV[3] -- about this many workers a page, 1 to 1,000
local most = ARGV[4] -- at most this many ids of each worker's tasks
-- Returns {'ok', now (ms), cursor of the next page ('0': none), then for each:
--          {worker, its record ('': it was failed), the note that it was failed ('': none), when it is silent
--          (ms), when a lease of one of its first tasks was extended (ms; 0: it has none), how many tasks it
--          has, then their ids, in the order of their leases}}

local page = redis.call('ZSCAN', workers, cursor, 'COUNT', size)
local keys = queue_keys(nil, nil, nil, nil, nil, nil, tasks, nil, nil, workers, worker_leases)
local names, silent = { '~lost' }, {}
for i = 1, #page[2], 2 do
  append(names, '~w:' .. page[2][i], '~f:' .. page[2][i])
  append(silent, tonumber(page[2][i + 1]))
end
local records = read('HMGET', tasks, names)
local now = clock(test_now)
local reply = { 'ok', now, page[1] }
local LOOKED_AT = 5 -- tasks of a worker whose leases say when it extended them
local ids, owners = {}, {} -- place among the ids -> row of the worker
for i, deadline in ipairs(silent) do
  local worker = string.sub(names[2 * i], 4)
  local members = leases_of(keys, worker, 0, tonumber(most))
  local count = #members
  if count == tonumber(most) then
    count = redis.call('ZLEXCOUNT', worker_leases, '[' .. worker .. ' ', '(' .. worker .. '!')
  end
  local row = { worker, records[2 * i] or '', records[2 * i + 1] or '', deadline, 0, count }
  for place, member in ipairs(members) do
    local id = string.match(member, '%S+$')
    append(row, id)
    if place <= LOOKED_AT then
      append(ids, id)
      owners[#ids] = row
    end
  end
  append(reply, row)
end
if #ids > 0 then
  local fields = {}
  for i, id in ipairs(ids) do
    fields[i] = '.' .. id
  end
  local deadlines, changing = read('ZMSCORE', working, ids), read('HMGET', tasks, fields)
  for i, row in ipairs(owners) do
    local task = parse(changing[i])
    if deadlines[i] and task.state == STATE.working then
      local extended = math.floor(tonumber(finite(deadlines[i]))) - (tonumber(task.leased_for) or 0)
      row[5] = math.max(row[5], math.min(extended, now))
    end
  end
end
local lost = cursor == '0' and lost_workers(records[1]) or {}
if #lost > 0 then
  local notes = {}
  for i, worker in ipairs(lost) do
    notes[i] = '~f:' .. worker
  end
  local registered = redis.call('ZMSCORE', workers, unpack(lost))
  for i, note in ipairs(read('HMGET', tasks, notes)) do
    local at = not registered[i] and tonumber((string.match(note or '', '^1;(%d+)')))
    if at and at + FORGOTTEN_AFTER > now then
      append(reply, { lost[i], '', note, at + FORGOTTEN_AFTER, 0, 0 })
    end
  end
end
return reply
