-- repair-control: repairs the control fields of the whole queue, and corrects counters by what a deep sweep
-- has counted.
local fair = KEYS[1] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[2] -- zset  group, score and id of what is in fair, by name
local limited = KEYS[3] -- zset  id -> place behind its group's limit
local delayed = KEYS[4] -- zset  id -> due (ms)
local tasks = KEYS[5] -- hash  records and control fields
local expiry = KEYS[6] -- zset  id -> when its record goes away (ms)
local workers = KEYS[7] -- zset  worker -> when it is silent (ms)
local operator_calls = KEYS[8] -- string  the last calls of operators
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local began = ARGV[2] -- when the count began (ms), from the reply to the first call; empty in that call
local items = ARGV -- then for each pair: field (that counts what came), came, gone, count
-- came, gone: the values of its two fields before the count; count: how many the sweep counted
-- Returns {'ok', now (ms), ~ghosts, ~dropped, ~timers, ~rung, ~broken, ~mended, {fault, field, …}}
--      or {'newer_schema'}

-- The queue is in use while the sweep counts, so a count may be wrong. It counts only if both fields are as
-- they were before: neither ever decreases, so nothing was added or removed. After the queue was deleted both
-- begin at 0, which the notes of operators' calls show.

local keys = queue_keys(nil, fair, fair_by_group, limited, nil, delayed, tasks, expiry, nil, workers)
local repair = new_repair(keys, clock(test_now))
local found = {}
for i, value in ipairs(redis.call('HMGET', tasks, unpack(CONTROL_NAMES))) do
  found[CONTROL_NAMES[i]] = value
end
if newer(found['~set']) then
  return { 'newer_schema' }
end

local observed =
  { fair = redis.call('ZCARD', fair), limited = redis.call('ZCARD', limited), first = lowest_score(workers) }
observed.timer = tonumber(finite(redis.call('ZSCORE', delayed, '~w')))
repair_control(repair, found, observed)

-- The field that counts what was removed, by the field that counts what was added.
local gone_of = {}
for i = 1, #PAIRS, 2 do
  gone_of[PAIRS[i]] = PAIRS[i + 1]
end

local function was_deleted()
  for when in string.gmatch(redis.call('GET', operator_calls) or '', '=ok,(%d+)') do
    if tonumber(when) >= tonumber(began) then
      return true
    end
  end
  return false
end

for i = 3, #items, 4 do
  local field, other = items[i], gone_of[items[i]]
  local came, gone, count = tonumber(items[i + 1]), tonumber(items[i + 2]), tonumber(items[i + 3])
  local added, removed = tonumber(found[field] or 0), tonumber(found[other] or 0)
  if field == '~broken' then
    -- The sweep has read all that was put aside before it began.
    local all_seen = came > removed and added >= came and not was_deleted()
    put_field(repair, other, found[other], all_seen and int(came) or found[other])
  elseif added == came and removed == gone and added - removed ~= count and not was_deleted() then
    local raised = added - removed < count and field or other
    put_field(repair, raised, found[raised], int(raised == field and removed + count or added - count))
    report_fault(repair, field == '~ghosts' and 'ghosts_wrong' or 'timer_wrong', field)
  end
end

local failed = write_repairs(repair)
local reply = { 'ok', repair.now }
for i, value in ipairs(redis.call('HMGET', tasks, unpack(PAIRS))) do
  reply[i + 2] = tonumber(value or 0)
end
reply[#reply + 1] = repair.report
return failed or reply
