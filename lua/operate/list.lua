-- list: reads some of the tasks in one state, in order or backwards. Changes nothing.
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local limited = KEYS[3] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[4] -- zset  id -> lease deadline (ms)
local delayed = KEYS[5] -- zset  id -> due (ms)
local tasks = KEYS[6] -- hash  records and control fields
local expiry = KEYS[7] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[8] -- zset  id -> when it was rejected (ms)
local state = ARGV[1] -- 'pending', 'delayed', 'blocked', 'working', 'completed' or 'rejected'
local cursor = ARGV[2] -- the cursor of the previous page; empty for the first
local size = ARGV[3] -- at most this many tasks, 1 to 1,000
local filter = ARGV[4] -- which of them; see README.md
local payloads = ARGV[5] -- '1' to return payloads, 'p' to return the beginning of each; empty for none
local max_bytes = ARGV[6] -- limit of the bytes of the records in the reply
local backwards = ARGV[7] -- '1': the last one first; empty: in order
-- Returns {'ok', cursor of the next page (empty: none), tasks left out because their records are a later
--          release's or unreadable, how many entries it has looked at, how many of them have values in which
--          the text cannot be looked for, then for each task: id, score in its zset ('' if pending), fixed
--          record without its payload ('' if it has none), payload ('' if not asked for, or none),
--          changing record ('' before the first change)}

local keys = { working = working, delayed = delayed, blocked = delayed, expiry = expiry, dead = dead }
local wanted = parse_filter(filter)
local states = { working = STATE.working, completed = STATE.completed, rejected = STATE.rejected }
local recorded_state = states[state] or STATE.waiting

-- Behind all members of a zset.
local LAST_PLACE = '99999999999999999 -'

-- The next entries of a zset from a place on.
local function entries_from(key, place, most)
  if backwards == '1' then
    return entries_before(key, place, most)
  end
  return entries_after(key, place, most)
end

-- Reads pending tasks in the order of delivery: the list and `fair` by their tags, then `limited`.
-- Returns at most so many entries; a function that returns the place after a number of them; and true if
-- there are no more.
local function read_pending(place, most)
  local index, fair_place, limited_place = string.match(place, '^(%d+) (%S+ %S+) (%S+ %S+)$')
  index = tonumber(index)
  local control = redis.call('HGET', tasks, '~fair')
  local found = {}

  local function add_ready()
    local times = parse_clock(control)
    local ids, number, step
    if backwards == '1' then
      ids = redis.call('LRANGE', pending, int(index), int(index + most - 1))
      -- Only beside `fair` it matters how many are in the list.
      local length = control and redis.call('LLEN', pending) or 0
      number, step = length - 1 - index, -1
    else
      ids = reversed(redis.call('LRANGE', pending, int(-index - most), int(-index - 1)), 1)
      number, step = index, 1
    end
    local sharing = control and entries_from(fair, fair_place, most) or {}
    local first_tag = 9 * BAND + (times.list_tag or (times[0] or 0) + SHARE)
    local i, j = 1, 1
    while #found < most and (ids[i] or sharing[j]) do
      local behind = sharing[j] and tonumber(sharing[j].score) - first_tag - number * SHARE
      if ids[i] and not (behind and (step == 1 and behind < 0 or step == -1 and behind >= 0)) then
        found[#found + 1] = { id = ids[i], from = 'list' }
        i, number = i + 1, number + step
      else
        found[#found + 1] = sharing[j]
        j = j + 1
      end
    end
  end

  local function add_limited()
    local room = most - #found
    for _, entry in ipairs(control and room > 0 and entries_from(limited, limited_place, room) or {}) do
      entry.from = 'limited'
      found[#found + 1] = entry
    end
  end

  if backwards == '1' then
    add_limited()
  end
  add_ready()
  if backwards ~= '1' then
    add_limited()
  end
  return found,
    function(done)
      for k = 1, done do
        if found[k].from == 'list' then
          index = index + 1
        elseif found[k].from == 'limited' then
          limited_place = found[k].place
        else
          fair_place = found[k].place
        end
      end
      return int(index) .. ' ' .. fair_place .. ' ' .. limited_place
    end,
    #found < most
end

local seen = {}

-- True for an entry of the list that is a ghost, or whose task this page has shown.
local function is_shown_or_ghost(entry)
  local task = entry.task
  if entry.from ~= 'list' or tonumber(task.ghosts or 0) == 0 then
    return false
  end
  local again = seen[entry.id] or grouped(task) or redis.call('ZSCORE', delayed, entry.id)
  seen[entry.id] = true
  return again
end

local reply, bytes = { 'ok', '', 0, 0, 0 }, 0
local HEAD = #reply

-- How many bytes of a payload a preview needs. Of JSON these are at least 201 characters. Of bytes these are
-- all, because they may be an envelope; but of many only those that show whether they are.
local function preview_length(payload)
  if string.sub(payload, 1, 1) == 'b' then
    return #payload > 5600 and 13 or #payload
  end
  -- The bytes 128 to 191 continue a character.
  local stop = 804
  while math.floor((string.byte(payload, stop + 1, stop + 1) or 0) / 64) == 2 do
    stop = stop - 1
  end
  return stop
end

-- What a reply has of a payload.
local function part_of(payload)
  if payloads == '1' then
    return payload
  end
  return payloads == 'p' and string.sub(payload, 1, preview_length(payload)) or ''
end

-- If the text is looked for in certain places, it is no part of the filter.
local sought = wanted.places and { text = wanted.text, shown_reasons = wanted.shown_reasons }
local in_text = sought and string.find(wanted.places, 'e', 1, true)
local in_payload = sought and string.find(wanted.places, 'p', 1, true)
if sought then
  wanted.text = ''
end

-- True for a value that is encrypted, or in an object store.
local function is_sealed(value)
  return string.sub(value, 1, 10) == 'bAFNMVUlDR'
end

-- True if a task has the text in one of the places. Counts those that have a sealed value there.
local function is_found(entry)
  local payload = in_payload and string.sub(entry.fixed, #without_payload(entry.fixed) + 1) or ''
  local text = in_text and entry.text or ''
  if
    string.find(entry.id, sought.text, 1, true)
    or (in_text and matches_text(sought, entry.task, text))
    or (string.sub(payload, 1, 1) == 'j' and string.find(payload, sought.text, 2, true))
  then
    return true
  end
  reply[HEAD] = reply[HEAD] + ((is_sealed(payload) or is_sealed(text)) and 1 or 0)
  return false
end

-- Dead letters are kept in `expiry` for longer than others, so that backwards they are all in front of the
-- completed tasks. From the first one on, members that are dead letters are passed over: their records are
-- not read.
local zset = zset_of_state(keys, state, wanted)
local passes, passing = false, 5000

local function show(entry)
  local task = entry.task
  if zset == expiry and not passes and task.state == STATE.rejected and task.reason ~= 'cancelled' then
    passes = true
    return true
  elseif
    task.state ~= recorded_state
    or not matches(wanted, task, entry.text)
    or is_shown_or_ghost(entry)
    or (sought and not is_found(entry))
  then
    return false
  elseif
    entry.fixed == '' and recorded_state == STATE.waiting
    or not (has_payload(entry.fixed) or entry.fixed == '')
  then
    entry.left_alone = true
    return false
  end
  local fixed, record = without_payload(entry.fixed), entry.record or ''
  local payload = part_of(string.sub(entry.fixed, #fixed + 1))
  bytes = bytes + #fixed + #payload + #record
  if #reply > HEAD and (bytes > tonumber(max_bytes) or #reply >= HEAD + 5 * tonumber(size)) then
    return true
  end
  append(reply, entry.id, state ~= 'pending' and entry.score or '')
  append(reply, fixed, payload)
  reply[#reply + 1] = record
end

local function without_dead_letters(entries)
  local ids, kept = {}, {}
  for i, entry in ipairs(entries) do
    ids[i] = entry.id
  end
  for i, died_at in ipairs(read('ZMSCORE', dead, ids)) do
    if not died_at then
      kept[#kept + 1] = entries[i]
    end
  end
  return kept
end

-- The same for members of a zset.
local function read_members(place, most)
  local from, before = zset == dead and wanted.ended_from, zset == dead and wanted.ended_before
  if zset == delayed then
    from, before = blocked_bounds(state)
  end
  local function members_from(start)
    if backwards == '1' then
      local last = before and place_from(before) or LAST_PLACE
      return entries_before(zset, start == '' and last or start, most, from)
    end
    return entries_after(zset, start == '' and place_from(from) or start, most, before)
  end
  local members = members_from(place)
  local entries = passes and without_dead_letters(members) or members
  while passes and #entries == 0 and #members == most and passing > 0 do
    passing, place = passing - most, members[most].place
    members = members_from(place)
    entries = without_dead_letters(members)
  end
  return entries,
    function(done)
      local last = done == #entries and members[#members] or entries[done]
      return last and last.place or place
    end,
    #members < most
end

-- Without a filter a page seldom needs more entries than it has tasks, and one to know that there are more.
-- But `expiry` has more than the tasks that are looked for.
local few = filter == '' and state ~= 'completed'
local most = few and math.min(tonumber(size) + 1, LOOK) or LOOK
local place, left = cursor, LOOK
while left > 0 do
  local entries, place_of, are_last
  if state == 'pending' then
    local start = backwards == '1' and LAST_PLACE or place_from()
    entries, place_of, are_last = read_pending(place ~= '' and place or '0 ' .. start .. ' ' .. start, most)
  else
    entries, place_of, are_last = read_members(place, most)
  end
  local passed_before = passes
  local done = visit_entries(tasks, entries, show)
  reply[3] = reply[3] + count_left_alone(entries, done)
  reply[4] = reply[4] + done
  local is_through = done == #entries
  if is_through and are_last then
    place = ''
  else
    place = place_of(done)
  end
  most, left = left - done, 0
  if passes ~= passed_before or (is_through and not are_last and done > 0) then
    left = most
  end
end
reply[2] = place
return reply
