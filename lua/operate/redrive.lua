-- redrive: rejected, of the dead letters -> pending, at the back, or delayed. (I1 I4 I5 I8)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[8] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local limit = ARGV[2] -- at most this many, 1 to 1,000
local dry = ARGV[3] -- '1' to only count
local interval = ARGV[4] -- between the due times of two tasks (ms, may have a fraction); '0': all at once
local cursor = ARGV[5] -- where the previous call ended; empty for the first
local filter = ARGV[6] -- which dead letters; see README.md
local wake = ARGV[7] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local items = ARGV -- then for each: id, lease (the last lease number it must have; empty for any)
-- If ids are given, at most 1,000, only these are redriven, and the filter is unused.
-- Returns {'ok', how many were redriven, cursor for the next call (empty: no more), how many were left alone
--          because their records are a later release's or unreadable, 1 if the caller must wake a consumer,
--          then for each id, as far as the call came: 'redriven' (now or by an earlier copy), 'not_found',
--          'not_dead_letter', 'lease_lost' or 'newer_schema'}
--      or {'newer_schema'}

local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry, dead)
local FELL = 'dependency_failed' -- such a task is blocked again if the one that failed is redriven
local MOST_LOOKED_AT = 500 -- dead letters, whose long records take long to read
local now = clock(test_now)
-- Tasks that are rejected after the first call are left for a later redrive.
local began, first_due, place = string.match(cursor, '^(%d+) (%d+) (.+)$')
first_due = math.max(tonumber(first_due or now), now)
local wanted = parse_filter(filter)
local chosen = {}

local function choose(entry, number)
  entry.number = number
  chosen[#chosen + 1] = entry
end

local answers = {} -- id -> its answer in the reply
local ready, resent = false, false -- whether tasks are ready, and whether an earlier copy has redriven some

local function choose_by_id(entry, number)
  local id, task = entry.id, entry.task
  local waits = task.state == STATE.waiting
  if answers[id] then
    return false
  elseif #chosen == tonumber(limit) then
    return true
  elseif task.state == STATE.ghost or task.state == STATE.deleted or (waits and entry.fixed == '') then
    answers[id] = 'not_found'
  elseif entry.lease ~= '' and entry.lease ~= task.lease_number then
    answers[id] = 'lease_lost'
  elseif task.state == STATE.rejected and has_payload(entry.fixed) and task.reason ~= FELL then
    answers[id] = 'redriven'
    choose(entry, number)
  else
    -- Rejected, and then waiting: an earlier copy has redriven it.
    local redriven = waits and string.find(task.history or '', 'r%d+[pd]%d+$')
    answers[id] = redriven and 'redriven' or 'not_dead_letter'
    resent = resent or redriven
  end
end

local function choose_matching(entry, number)
  if #chosen == tonumber(limit) then
    return true
  elseif entry.task.state ~= STATE.rejected or not has_payload(entry.fixed) then
    entry.left_alone = true
  elseif entry.task.reason ~= FELL and matches(wanted, entry.task, entry.text) then
    choose(entry, number)
  end
end

local function redrive(plan, ids, known, before)
  open_groups(plan, known)
  for i, task in ipairs(known) do
    local due = math.floor(first_due + (before + i - 1) * interval)
    ready = ready or due <= now
    task.charged, task.reason, task.ended_at = '0', nil, nil
    wait_again(plan, ids[i], task, chosen[before + i].text, 'back', due > now and due)
    note_event(plan, 'redriven', ids[i])
  end
  plan.writes['ZREM expiry'] = ids
  plan.writes['ZREM dead'] = ids
  return commit(plan)
end

local entries = {}
for i = 8, #items, 2 do
  entries[#entries + 1] = { id = items[i], lease = items[i + 1] }
end
local by_id = #entries > 0
if not began then
  began = int(now)
end
if not by_id then
  if not place then
    place = place_from(wanted.ended_from)
  end
  local before = math.min(tonumber(wanted.ended_before or began + 1), began + 1)
  entries = entries_after(dead, place, MOST_LOOKED_AT, before)
end
local done = visit_entries(tasks, entries, by_id and choose_by_id or choose_matching)
local count = #chosen
if dry ~= '1' then
  count, done = write_chosen(keys, now, chosen, done, redrive)
  if not done then
    return count
  end
end

local next_place = ''
if not by_id then
  next_place = place_after(entries, done, place, MOST_LOOKED_AT)
elseif done < #entries then
  next_place = place_from()
end
if next_place ~= '' then
  next_place = began .. ' ' .. int(math.ceil(first_due + count * interval)) .. ' ' .. next_place
end
-- An earlier copy's reply, and with it the wake, may be lost. So this copy asks for a wake again.
local wakes = wake ~= ''
  and dry ~= '1'
  and (ready or resent)
  and record_wake(tasks, redis.call('HMGET', tasks, '~wake', '~set'), now, wake, resent and 0)
local reply = { 'ok', count, next_place, count_left_alone(entries, done), wakes and 1 or 0 }
for i = 1, by_id and done or 0 do
  reply[i + 5] = entries[i].left_alone and 'newer_schema' or answers[entries[i].id] or 'not_found'
end
return reply
