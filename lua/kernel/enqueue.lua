-- enqueue: nothing -> pending | delayed. A known id changes nothing. (I1 I3 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[8] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local with_settings = ARGV[2] -- '1' to read the queue's settings for one plain task too; '': only for others
local wake = ARGV[3] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local refuse_each = ARGV[4] -- '1' if the tasks are of several calls: each is refused alone; '': all or none
local slots = ARGV[5] -- '<version of the map>:<slots>' that this partition must own, with commas between;
-- '-': none; '': the queue has no partitions
local new = ARGV -- then for each task: id, when ('' now, '+ms' later, 'ms' at), unique, record from options
-- unique: '', 'again' for an id whose last task may have ended, or '<window, ms> <dedup key>'
-- Returns {'ok', 1 if producers should set with_settings, 0 if not, -1 if this call has not read settings,
--          1 if the caller must wake a consumer, then for each task:
--          1 if this call or an earlier copy of it created it, else 0, or the id that has its dedup key;
--          for tasks of several calls also why it is refused: 'full', 'reused' or 'newer_schema', each
--          after a space}
--      or {'full'} | {'newer_schema'}
--      or {'reused'}: another call with the same idempotency key made one of the tasks
--      or {'moved'}: the partition does not own all slots, or knows a later map

local STRIDE = 4
-- How many arguments are in front of the tasks.
local FRONT = 5
-- How many tasks a plain enqueue adds at most: no command then has more than SLICE arguments.
local PLAIN_TASKS = 490
local now_text = clock_text(test_now)
local count = (#new - FRONT) / STRIDE

-- True for a task without group and priority. record: its fixed record, from the letters on.
local function stands_in_list(record)
  return string.byte(record, 1, 1) == 10 or not string.find(record, '^[^\n]*;[GP]=')
end

local front = '1;' .. now_text
-- ids: of the tasks. fields: ids and fixed records. made: the reply of HSETNX, which tests and writes a lone
-- plain task. stored: field -> its value, of a fixed record only the first line.
local ids, fields, made, stored = {}, {}, nil, nil

-- A lone plain task without a slot is written without a look at the control fields.
local bare = with_settings ~= '1' and (slots == '' or slots == '-')
if count == 1 and bare and new[8] == '' and stands_in_list(new[9]) then
  ids[1], fields[1], fields[2] = new[6], new[6], front .. new[9]
  -- A full Redis refuses this even if the id is known, but it does not refuse to read.
  made = redis.pcall('HSETNX', tasks, ids[1], fields[2])
  if PLAIN and made == 1 and new[7] == '' and wake == '' then
    redis.call('LPUSH', pending, ids[1])
    return { 'ok', -1, 0, 1 }
  end
else
  local names, reply, met = { unpack(ENQUEUE_FIELDS) }, { 'ok', 0, 0 }, {}
  local plain = PLAIN and wake == '' and count <= PLAIN_TASKS
  for i = 1, count do
    local id, when, unique, record = unpack(new, STRIDE * i + 2, STRIDE * i + FRONT)
    if plain and (when ~= '' or unique ~= '' or met[id] or not stands_in_list(record)) then
      plain = false
    end
    met[id], ids[i], names[#ENQUEUE_FIELDS + i], reply[i + 3] = true, id, id, 1
    fields[2 * i - 1], fields[2 * i] = id, front .. record
  end
  if plain then
    stored = read_first_lines(tasks, names)
    if slots ~= '' and has_moved(stored['~slots'], slots) then
      return { 'moved' }
    end
    if stored['~set'] or any_known(stored, ids) then
      plain = false
    end
  end
  if plain then
    local added = redis.pcall('HSET', tasks, unpack(fields))
    if type(added) ~= 'number' then
      return added
    end
    redis.call('LPUSH', pending, unpack(ids))
    return reply
  end
end

-- Not plain.
local keys = queue_keys(pending, fair, fair_by_group, limited, nil, delayed, tasks, expiry, dead)
local plan, drafts = new_plan(keys, tonumber(now_text)), {}
for i = 1, count do
  local when, unique = new[STRIDE * i + 3], new[STRIDE * i + 4]
  drafts[i] = new_draft(ids[i], when, unique, fields[2 * i], plan.now)
end
if made ~= nil then
  local fixed = made ~= 1 and redis.call('HGET', tasks, ids[1])
  if made ~= 1 and made ~= 0 and not fixed then
    return made
  end
  stored = { [ids[1]] = fixed and first_line(fixed) or nil }
else
  if not stored then
    stored = read_for_enqueue(tasks, drafts)
  end
  if newer(stored['~slots']) then
    return { 'newer_schema' }
  elseif slots ~= '' and has_moved(stored['~slots'], slots) then
    return { 'moved' }
  elseif read_settings(plan, stored['~set'], stored['~stats']) then
    return { 'newer_schema' }
  end
end

local call, reply = new_call(plan, drafts, stored, refuse_each == '1'), { 'ok', must_read_settings(plan), 0 }
call.is_written = made ~= nil
local refused = add_drafts(call, drafts, reply)
if refused then
  return { refused }
end
if wake ~= '' and call.any_ready then
  local found = made ~= nil and redis.call('HMGET', tasks, '~wake', '~set')
    or { stored['~wake'], stored['~set'] }
  reply[3] = plan_wake(call, found, wake) and 1 or 0
end
return commit_enqueue(call) or reply
