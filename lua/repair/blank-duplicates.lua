-- blank-duplicates: overwrites duplicate entries of the list with blanks. The entry nearest to delivery
-- stays. (I1)
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
local reach = ARGV[2] -- how far right of its index an entry is searched, 1 to 10,000
local items = ARGV -- then for each: id, index (of one of its entries when it was read, from the left)
-- Returns {'ok', ghosts added, {fault, id, …}, {id and attempts of each new dead letter, …},
--          then for each: 1 if the entry was found again, else 0}
--      or {'newer_schema'}

-- Entries move as others are added, so only what this call itself finds twice is a duplicate.

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
local repair = new_repair(keys, clock(test_now))
local ids, places, met, again = {}, {}, {}, {}
for i = 3, #items, 2 do
  local id, index = items[i], tonumber(items[i + 1])
  if not places[id] then
    ids[#ids + 1], places[id] = id, {}
  end
  again[#again + 1] = 0
  for j, other in ipairs(redis.call('LRANGE', pending, int(index), int(index + reach))) do
    if other == id then
      local place = index + j - 1
      local name = id .. ' ' .. int(place)
      append(places[id], not met[name] and place or nil)
      met[name], again[#again] = true, 1
    end
  end
end
local entries = find_entries(repair, ids)
if repair.newer then
  return { 'newer_schema' }
end

local blanks = {}
local function blank_extra(entry)
  local sorted = places[entry.id]
  table.sort(sorted)
  for i = 1, #sorted - entry.expected do
    append(blanks, sorted[i])
    report_fault(repair, 'two_places', entry.id)
  end
end

local failed = repair_entries(repair, entries, blank_extra) or blank(repair, blanks)
return failed or { 'ok', repair.ghosts, repair.report, repair.dead_letters, unpack(again) }
