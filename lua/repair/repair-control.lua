-- repair-control: repairs the control fields of the whole queue, and corrects counters by what a deep sweep
-- has counted.
local fair = KEYS[1] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[2] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[4] -- zset  id -> lease deadline (ms)
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local workers = KEYS[8] -- zset  worker -> when it counts as silent (ms)
local operator_calls = KEYS[9] -- string  the last calls of operators
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local deletion = ARGV[2] -- the last deletion before the count, from the first reply; empty in the first call
local items = ARGV -- then for each pair: field (of those added), added, removed, count
-- added, removed: the values of the pair's fields before the count; count: what the sweep counted
-- Of `~nodes`, `removed` is how many leases have ended.
-- Returns {'ok', the note of the queue's last deletion (empty: none, or not the first call), ~nodes, how many
--          leases have ended, ~ghosts, ~dropped, ~timers, ~elapsed, ~broken, ~checked, {fault, field, …}}
--      or {'newer_schema'}

-- The queue is in use while the sweep counts, so a count may be outdated. It is used only if both fields of
-- the pair are as before: neither ever decreases, so nothing was added or removed meanwhile. If the queue was
-- deleted meanwhile, both begin at 0 again: the notes of operators' calls show that, also after the clock has
-- jumped back.

local keys = queue_keys(nil, fair, fair_by_group, limited, nil, delayed, tasks, expiry, nil, workers)
local repair = new_repair(keys, clock(test_now))
local found = {}
for i, value in ipairs(redis.call('HMGET', tasks, unpack(CONTROL_NAMES))) do
  found[CONTROL_NAMES[i]] = value
end
if newer_settings(found['~set']) then
  return { 'newer_schema' }
end

local observed =
  { fair = redis.call('ZCARD', fair), limited = redis.call('ZCARD', limited), first = lowest_score(workers) }
observed.timer = tonumber(finite(redis.call('ZSCORE', delayed, '~w')))
repair_control(repair, found, observed)

-- The field that counts what was removed, by the field that counts what was added.
local removed_field = {}
for i = 1, #PAIRS, 2 do
  removed_field[PAIRS[i]] = PAIRS[i + 1]
end

local function last_deletion()
  local last = ''
  for note in string.gmatch(redis.call('GET', operator_calls) or '', '%S+=ok,%d+') do
    last = note
  end
  return last
end

-- Of a queue with nodes. Never decreases, as each lease has a new number.
local leases_ended = found['~nodes'] and tonumber(found['~lease'] or 0) - redis.call('ZCARD', working) or 0

for i = 3, #items, 4 do
  local field, other = items[i], removed_field[items[i]]
  local was_added, was_removed, count = tonumber(items[i + 1]), tonumber(items[i + 2]), tonumber(items[i + 3])
  local added, removed = tonumber(found[field] or 0), tonumber(found[other] or 0)
  if field == '~broken' then
    -- The sweep has read all that dequeues took out of the line before it began.
    local all_seen = was_added > removed and added >= was_added and last_deletion() == deletion
    put_field(repair, other, found[other], all_seen and int(was_added) or found[other])
  elseif field == '~nodes' then
    -- It goes up and down: by tasks that end when their leases do, or seldom otherwise, such as by cancels.
    -- The next deep sweep corrects what is wrong because of these. With 0, blocked tasks would count as
    -- delayed.
    local is_wrong = added == was_added and leases_ended == was_removed and added ~= count
    local may_be = is_wrong and (count > 0 or redis.call('ZCOUNT', delayed, BLOCKED.task, '+inf') == 0)
    if may_be and last_deletion() == deletion then
      put_field(repair, field, found[field], int(count))
      report_fault(repair, 'control_broken', field)
    end
  elseif
    added == was_added
    and removed == was_removed
    and added - removed ~= count
    and last_deletion() == deletion
  then
    local raised = added - removed < count and field or other
    put_field(repair, raised, found[raised], int(raised == field and removed + count or added - count))
    report_fault(repair, field == '~ghosts' and 'ghosts_wrong' or 'timer_wrong', field)
  end
end

local failed = write_repairs(repair)
local reply = { 'ok', #items == 2 and last_deletion() or '' }
for i, value in ipairs(redis.call('HMGET', tasks, '~nodes', unpack(PAIRS))) do
  append(reply, tonumber(value or 0), i == 1 and leases_ended or nil)
end
reply[#reply + 1] = repair.report
return failed or reply
