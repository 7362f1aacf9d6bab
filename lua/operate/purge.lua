-- purge: pending | delayed | blocked -> rejected (cancelled); completed | rejected -> nothing, as by remove.
-- (I1 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[8] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local state = ARGV[2] -- 'pending', 'delayed', 'blocked', 'completed' or 'rejected'
local limit = ARGV[3] -- at most this many, 1 to 1,000
local cursor = ARGV[4] -- where the previous call ended; empty for the first
local filter = ARGV[5] -- which of them; see README.md. For pending tasks it must have a group or be empty
-- Returns {'ok', how many were purged, cursor for the next call (empty: no more), how many were left alone
--          because their records are a later release's or unreadable}
--      or {'newer_schema'}

local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry, dead)
local now, most = clock(test_now), tonumber(limit)
keys.blocked = delayed
local due_from, due_before = blocked_bounds(state)
if state == 'blocked' then
  -- What falls with a task must not be chosen before.
  most = math.min(most, MAX_PLAN_LEASES)
end
local wanted = parse_filter(filter)
local recorded_state = state == 'completed' and STATE.completed
  or state == 'rejected' and STATE.rejected
  or STATE.waiting
local ended = recorded_state ~= STATE.waiting
local reply = { 'ok', 0, '', 0 }

-- Purges from a zset, after a place. Returns the reply if nothing could be purged.
local function purge_zset(key, place)
  local by_group = key == fair and wanted.group
  local chosen, entries =
    {},
    by_group and turns_after(fair_by_group, wanted.group, place) or entries_after(
      key,
      place,
      LOOK,
      key == dead and wanted.ended_before or key == delayed and due_before
    )
  local done = visit_entries(tasks, entries, function(entry, number)
    local task = entry.task
    if #chosen == most then
      return true
    elseif not ended and not (has_payload(entry.fixed) and (key == delayed or grouped(task))) then
      entry.left_alone = true
    elseif task.state == recorded_state and matches(wanted, task, entry.text) then
      entry.number = number
      chosen[#chosen + 1] = entry
    end
  end)
  local scores, lowest = {}, nil -- new scores of the tasks that moved up, by id; and the lowest of these
  local count
  count, done = write_chosen(keys, now, chosen, done, function(plan, ids, known, before)
    if ended then
      for i, id in ipairs(ids) do
        erase(plan, id, known[i])
      end
      return commit(plan)
    end
    open_groups(plan, key ~= delayed and known or {})
    for i, id in ipairs(ids) do
      if key ~= delayed then
        refund(plan, id, known[i], key, scores[id] or chosen[before + i].score)
      end
      end_task(plan, id, known[i], '', 'rejected', 'cancelled')
    end
    -- Only the next task of a group moves up, as those behind it may be purged too.
    plan.move_up_limit = 1
    move_up_all(plan)
    local failed = commit(plan)
    write('ZREM', key, failed and {} or ids)
    local moved = failed and {} or planned_writes(plan, 'ZADD fair XX')
    for i = 1, #moved, 2 do
      scores[moved[i + 1]] = moved[i]
      lowest = math.min(lowest or math.huge, tonumber(moved[i]))
    end
    return failed
  end)
  if not done then
    return count
  end
  -- If tasks moved up to places before the end of this call, the next call begins there.
  local behind_all = lowest and place_from(int(lowest)) or place_after(entries, done, place)
  reply[2], reply[3], reply[4] = count, behind_all, count_left_alone(entries, done)
end

-- Purges some entries of the list, and drops ghosts among them. Returns the reply if that fails; and true if
-- all entries that were taken off were read, and there may be more.
local function purge_list()
  local plan = open_plan(keys, now)
  if not plan then
    return { 'newer_schema' }, nil
  end
  local entries, batch, rest = {}, new_batch(0, 0), {}
  for i, id in ipairs(redis.call('RPOP', pending, int(MAX_PLAN_LEASES)) or {}) do
    entries[i] = { id = id }
  end
  local count = reply[2]
  local done = visit_entries(tasks, entries, function(entry)
    if count == most then
      return true
    end
    local known = entry_of(batch, entry.id, entry.fixed, entry.record)
    if not skip_undeliverable(batch, known, entry) then
      count, known.written = count + 1, true
      end_task(plan, entry.id, known.task, '', 'rejected', 'cancelled')
    end
  end)
  local failed = commit(plan)
  for i = #entries, 1, -1 do
    append(rest, (failed or i > done or entries[i].left_alone) and entries[i].id or nil)
  end
  write('RPUSH', pending, rest)
  if failed then
    return reply[2] == 0 and failed, nil
  end
  write_skipped(batch, tasks)
  local all = done == #entries
  local more = #rest < #entries and not (all and #entries < MAX_PLAN_LEASES)
  reply[2], reply[3] = count, more and 'pending ' .. place_from() or ''
  reply[4] = more and 0 or count_left_alone(entries, done)
  return nil, more and all
end

if state ~= 'pending' then
  local key = zset_of_state(keys, state, wanted)
  return purge_zset(
    key,
    cursor ~= '' and cursor or place_from(key == dead and wanted.ended_from or key == delayed and due_from)
  ) or reply
end
local part, place = string.match(cursor, '^(%a+) (.+)$')
if not part then
  part, place = 'pending', place_from()
  if redis.call('HEXISTS', tasks, '~fair') == 1 then
    part = 'limited'
  end
end
local failed, more = nil, filter == ''
if part ~= 'pending' then
  failed = purge_zset(part == 'limited' and limited or fair, place)
  if reply[3] ~= '' then
    reply[3] = part .. ' ' .. reply[3]
  elseif part == 'limited' or more then
    reply[3] = (part == 'limited' and 'fair ' or 'pending ') .. place_from()
  end
  return failed or reply
end
-- A call continues if it found only ghosts.
for _ = 1, math.ceil(most / MAX_PLAN_LEASES) do
  if more and not failed and reply[2] < most then
    failed, more = purge_list()
  end
end
return failed or reply
