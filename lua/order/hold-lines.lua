-- hold-lines: holds lines of groups in strict order, or lets them go on, while partitions change. (I2)
local fair = KEYS[1] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[2] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[4] -- zset  id -> due (ms)
local tasks = KEYS[5] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local version = ARGV[2] -- of the map that the partition must have noted; '' for any
local step = ARGV[3] -- 'prepare': notes the version, so that a late call under an earlier one does nothing;
-- 'checked': all groups that others work on have their hold now; '': neither
local wake = ARGV[4] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local items = ARGV -- then for each: group, was (the hold that its line must have; '' for none, '*' for any
-- but the turn of another partition), hold (that it gets; '' for none)
-- Returns {'ok', 1 if the caller must wake a consumer}
--      or {'older'}: the partition has noted another version of the map. Nothing has changed
--      or {'newer_schema'}

local STRIDE = 3
-- How many arguments are in front of the groups.
local FRONT = 4
local plan = new_plan(queue_keys(nil, fair, fair_by_group, limited, nil, delayed, tasks), clock(test_now))
local found = redis.call('HMGET', tasks, '~set', '~stats', '~slots', '~moved', '~wake')
if newer(found[3]) or read_settings(plan, found[1], found[2]) then
  return { 'newer_schema' }
end
local noted, owned = noted_slots(found[3])
if step == 'prepare' and owned and tonumber(noted) < tonumber(version) then
  noted = version
  plan_write(plan, 'HSET tasks', '~slots', '1;' .. version .. ';' .. owned)
end
if version ~= '' and noted ~= version then
  return { 'older' }
end
local groups = {}
for i = FRONT + 1, #items, STRIDE do
  groups[#groups + 1] = { group = items[i] }
end
open_groups(plan, groups)
local lifted, resent = false, false -- whether lines go on, now or since an earlier copy
for i, task in ipairs(groups) do
  local was, hold = items[STRIDE * i + FRONT - 1], items[STRIDE * i + FRONT]
  local group = plan.groups[task.group]
  local now = group.line and group.line.hold or ''
  local fits = now == was or (was == '*' and not string.find(now, ',', 1, true))
  if group.line and fits then
    holds.set_hold(plan, group, hold ~= '' and hold or nil)
    lifted = lifted or hold == ''
  end
  resent = resent or (now == '' and hold == '')
end
local moved = holds.parse_moved(found[4])
if step == 'checked' and moved then
  moved.unchecked = string.rep('0', 64)
  plan_write(plan, 'HSET tasks', '~moved', holds.format_moved(moved))
end
local failed = commit(plan)
if failed then
  return failed
end
-- An earlier copy's reply, and with it the wake, may be lost. So this copy asks for a wake again.
local wakes = wake ~= ''
  and (lifted or resent)
  and redis.call('EXISTS', fair) > 0
  and record_wake(tasks, { found[5], found[1] }, plan.now, wake, not lifted and 0)
return { 'ok', wakes and 1 or 0 }
