-- list: reads some of the tasks in one state, in order. Changes nothing.
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[4] -- zset  id -> lease deadline (ms)
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[8] -- zset  id -> when it was rejected (ms)
local state = ARGV[1] -- 'pending', 'delayed', 'working', 'completed' or 'rejected'
local cursor = ARGV[2] -- the cursor of the previous page; empty for the first
local size = ARGV[3] -- at most this many tasks, 1 to 1,000
local filter = ARGV[4] -- which of them; see README.md
local payloads = ARGV[5] -- '1' to return payloads
local max_bytes = ARGV[6] -- limit of the bytes of the records in the reply
-- Returns {'ok', cursor of the next page (empty: none), tasks left out because their records are a later
--          release's or unreadable, then for each task: id, due or deadline (ms; 0: none), fixed record
--          without its payload ('' if it has none), payload ('' if not asked for, or none),
--          changing record ('' before the first change)}

local keys = { working = working, delayed = delayed, expiry = expiry, dead = dead }
local wanted = parse_filter(filter)
local states = { working = STATE.working, completed = STATE.completed, rejected = STATE.rejected }
local recorded_state = states[state] or STATE.waiting

-- Reads pending tasks in the order of delivery: the list and `fair` by their tags, then `limited`.
-- Returns at most so many entries, and a function that returns the place after a number of them.
local function read_pending(place, most)
  local index, fair_place, limited_place = string.match(place, '^(%d+) (%S+ %S+) (%S+ %S+)$')
  index = tonumber(index)
  local control = redis.call('HGET', tasks, '~fair')
  local times = parse_clock(control)
  local ids = redis.call('LRANGE', pending, int(-index - most), int(-index - 1))
  local sharing = control and entries_after(fair, fair_place, most) or {}
  local tag = 9 * BAND + (times.list_tag or (times[0] or 0) + SHARE) + index * SHARE
  local found, i, j = {}, #ids, 1
  while ids[i] or sharing[j] do
    if ids[i] and not (sharing[j] and tonumber(sharing[j].score) < tag) then
      found[#found + 1] = { id = ids[i], listed = true }
      i, tag = i - 1, tag + SHARE
    else
      found[#found + 1] = sharing[j]
      j = j + 1
    end
  end
  local waiting = #found
  for _, entry in ipairs(control and waiting < most and entries_after(limited, limited_place, most) or {}) do
    found[#found + 1] = entry
  end
  for k = #found, most + 1, -1 do
    found[k] = nil
  end
  return found,
    function(done)
      for k = 1, done do
        if found[k].listed then
          index = index + 1
        elseif k <= waiting then
          fair_place = found[k].place
        else
          limited_place = found[k].place
        end
      end
      return int(index) .. ' ' .. fair_place .. ' ' .. limited_place
    end
end

local seen = {}

-- True for an entry of the list that is a ghost, or whose task this page has shown.
local function is_shown_or_ghost(entry)
  local task = entry.task
  if not entry.listed or tonumber(task.ghosts or 0) == 0 then
    return false
  end
  local again = seen[entry.id] or grouped(task) or redis.call('ZSCORE', delayed, entry.id)
  seen[entry.id] = true
  return again
end

local reply, bytes = { 'ok', '', 0 }, 0

local function show(entry)
  local task = entry.task
  if task.state ~= recorded_state or not matches(wanted, task, entry.text) or is_shown_or_ghost(entry) then
    return false
  elseif
    entry.fixed == '' and recorded_state == STATE.waiting
    or not (has_payload(entry.fixed) or entry.fixed == '')
  then
    entry.left_alone = true
    return false
  end
  local fixed, record = without_payload(entry.fixed), entry.record or ''
  local payload = payloads == '1' and string.sub(entry.fixed, #fixed + 1) or ''
  bytes = bytes + #fixed + #payload + #record
  if #reply > 3 and (bytes > tonumber(max_bytes) or #reply >= 3 + 5 * tonumber(size)) then
    return true
  end
  local timed = state == 'working' or state == 'delayed'
  append(reply, entry.id, timed and math.floor(tonumber(entry.score)) or 0)
  append(reply, fixed, payload)
  reply[#reply + 1] = record
end

-- The same for members of a zset.
local function read_members(place, most)
  local key = zset_of_state(keys, state, wanted)
  if place == '' then
    place = place_from(key == dead and wanted.ended_from)
  end
  local entries = entries_after(key, place, most, key == dead and wanted.ended_before)
  return entries, function(done)
    return done > 0 and entries[done].place or place
  end
end

-- Without a filter a page seldom needs more entries than it has tasks, and one to know that there are more.
-- But `expiry` has dead letters among the completed tasks.
local few = filter == '' and state ~= 'completed'
local most = few and math.min(tonumber(size) + 1, LOOK) or LOOK
local place, left = cursor, LOOK
while left > 0 do
  local entries, place_of
  if state == 'pending' then
    entries, place_of = read_pending(place ~= '' and place or '0 0 - 0 -', most)
  else
    entries, place_of = read_members(place, most)
  end
  local done = visit_entries(tasks, entries, show)
  reply[3] = reply[3] + count_left_alone(entries, done)
  if done < most and done == #entries then
    place = ''
  else
    place = place_of(done)
  end
  local more = done == most
  most, left = left - done, 0
  if more then
    left = most
  end
end
reply[2] = place
return reply
