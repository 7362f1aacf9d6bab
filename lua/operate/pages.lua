-- pages: visits the tasks of one place page by page; filters; deleting records.

-- How many ids one call reads at most, and about how many bytes of their records.
local LOOK = 1000

local LOOK_BYTES = 8000000

-- The letters of a filter. Its instants are in ms. `_from` includes the instant, `_before` excludes it. Its
-- reasons have a comma before and after each: `,a,b,`. `shown_reasons` are those whose text has the text.
-- With `places` a list looks for the text in ids, and there: `e` the result or error, `p` the payload.
local FILTER_FIELDS = {
  G = 'group',
  y = 'reasons',
  x = 'shown_reasons',
  t = 'places',
  z = 'ended_from',
  Z = 'ended_before',
  e = 'enqueued_from',
  E = 'enqueued_before',
}

-- Parses a filter, `;<letter>=<value>…⏎<text>`; empty for all tasks.
local function parse_filter(argument)
  local letters, text = string.match(argument, '^([^\n]*)\n?(.*)$')
  local filter = parse_named(letters, FILTER_FIELDS)
  filter.text = text
  return filter
end

-- True if an instant lies within bounds, which may be absent.
local function within(instant, from, to)
  if not (from or to) then
    return true
  end
  instant = tonumber(instant)
  return instant and instant >= tonumber(from or instant) and not (to and instant >= tonumber(to))
end

-- The reason whose text is shown in place of the error of a task; nothing if the error itself is shown.
local function shown_reason(task, text)
  local reason = task.reason
  if reason then
    return (reason == 'lease_expired' or reason == 'taken_back' or text == '') and reason
  end
  local last = task.state ~= STATE.completed
    and string.match('\t' .. (task.errors or ''), '\t%d+ %d+([^\t]*)$')
  return last == '' and 'lease_expired' or last == ' taken_back' and 'taken_back'
end

-- True if a filter has no text, or the text is in the task's result or last error, or in the text of the
-- reason that is shown in place of the error. A text in base64 never matches.
local function matches_text(filter, task, text)
  return filter.text == ''
    or string.sub(text, 1, 1) == 'j' and string.find(text, filter.text, 2, true) ~= nil
    or filter.shown_reasons
      and string.find(filter.shown_reasons, ',' .. (shown_reason(task, text) or '') .. ',', 1, true) ~= nil
end

-- True if a task matches a filter. No join or gate of a flow does. text: the task's result or last error.
local function matches(filter, task, text)
  return not task.node_kind
    and (not filter.group or task.group == filter.group)
    and (not filter.reasons or string.find(filter.reasons, ',' .. (task.reason or '') .. ',', 1, true) ~= nil)
    and within(task.ended_at, filter.ended_from, filter.ended_before)
    and within(task.enqueued_at, filter.enqueued_from, filter.enqueued_before)
    and matches_text(filter, task, text)
end

-- The zset of a state's tasks. Cancelled tasks are no dead letters: only `expiry` has them.
local function zset_of_state(keys, state, filter)
  if state == 'completed' or (state == 'rejected' and filter.reasons == ',cancelled,') then
    return keys.expiry
  end
  return state == 'rejected' and keys.dead or keys[state]
end

-- True if a text sorts first by its bytes, as members do in Redis. Lua's own comparison may depend on a
-- locale.
local function precedes(first, second)
  for i = 1, math.min(#first, #second) do
    local one, other = string.byte(first, i, i), string.byte(second, i, i)
    if one ~= other then
      return one < other
    end
  end
  return #first < #second
end

-- The first place in a zset from a score on: no id sorts before `-`.
local function place_from(from)
  return (from or '0') .. ' -'
end

-- How many members of a zset are before a place, `<score> <member>`; with `included` also the one at it. That
-- one may have been removed.
local function rank_of(key, place, included)
  local score, id = string.match(place, '^(%S+) (.+)$')
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. score)
  local high = redis.call('ZCOUNT', key, '-inf', score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local member = redis.call('ZRANGE', key, int(middle), int(middle))[1]
    if precedes(member, id) or (included and member == id) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- The members of a zset after a place, and of a lower score than `before`; no more than `most`.
local function entries_after(key, place, most, before)
  local low = rank_of(key, place, true)
  local found = redis.call('ZRANGE', key, int(low), int(low + most - 1), 'WITHSCORES')
  local entries = {}
  for i = 1, #found, 2 do
    if before and tonumber(found[i + 1]) >= tonumber(before) then
      break
    end
    entries[#entries + 1] = { id = found[i], score = found[i + 1], place = found[i + 1] .. ' ' .. found[i] }
  end
  return entries
end

-- The members of a zset before a place, the last one first, and of no lower score than `from`; no more than
-- `most`.
local function entries_before(key, place, most, from)
  local stop = rank_of(key, place)
  local entries = {}
  if stop == 0 then
    return entries
  end
  local found = redis.call('ZRANGE', key, int(math.max(0, stop - most)), int(stop - 1), 'WITHSCORES')
  for i = #found - 1, 1, -2 do
    if from and tonumber(found[i + 1]) < tonumber(from) then
      break
    end
    entries[#entries + 1] = { id = found[i], score = found[i + 1], place = found[i + 1] .. ' ' .. found[i] }
  end
  return entries
end

-- As `entries_after`, of `fair`, for one group only.
local function turns_after(fair_by_group, group, place)
  local score, id = string.match(place, '^(%S+) (.+)$')
  local first, last = '(' .. turn_of(group, score, id), '(' .. group .. '!'
  local entries = {}
  local found = redis.call('ZRANGE', fair_by_group, first, last, 'BYLEX', 'LIMIT', '0', int(LOOK))
  for i, member in ipairs(found) do
    local own_score, own_id = string.match(member, ' 0*(%d+) (%S+)$')
    entries[i] = { id = own_id, score = own_score, place = own_score .. ' ' .. own_id }
  end
  return entries
end

-- Reads the records of entries, in slices, so that large payloads cannot fill the script's memory. Calls
-- `visit` for each entry until it returns true: it has no room for that entry. Skips members that are no ids,
-- and tasks of a later release, which get `left_alone`. Returns how many entries were visited or skipped.
local function visit_entries(tasks, entries, visit)
  local done, bytes, slice = 0, 0, 16
  local most = math.min(#entries, LOOK)
  while done < most and bytes < LOOK_BYTES do
    local names = {}
    for i = done + 1, math.min(done + slice, most) do
      append(names, entries[i].id, '.' .. entries[i].id)
    end
    local found = redis.call('HMGET', tasks, unpack(names))
    for i = 1, #names, 2 do
      local entry = entries[done + 1]
      entry.fixed, entry.record = found[i] or '', found[i + 1]
      bytes = bytes + #entry.fixed + #(entry.record or '')
      if string.sub(entry.id, 1, 1) ~= '~' then
        if newer(entry.fixed) or newer(entry.record) then
          entry.left_alone = true
        else
          entry.task, entry.text = parse_with(entry.fixed, entry.record)
          if visit(entry, done + 1) then
            return done
          end
        end
      end
      done = done + 1
    end
    slice = math.max(1, math.min(128, math.floor((LOOK_BYTES - bytes) / (bytes / done + 1))))
  end
  return done
end

-- How many of the first `done` entries had to be left alone.
local function count_left_alone(entries, done)
  local left = 0
  for i = 1, done do
    left = left + (entries[i].left_alone and 1 or 0)
  end
  return left
end

-- The place at which the next call continues; empty if there are no more entries.
-- most: how many were asked for (nil: LOOK).
local function place_after(entries, done, place, most)
  if done == #entries and done < (most or LOOK) then
    return ''
  end
  return done > 0 and entries[done].place or place
end

-- Writes what was chosen among entries, each with its `number` there, as many at a time as a plan may have.
-- Returns how many were written, and how many entries are done. If nothing could be written it returns the
-- reply alone.
local function write_chosen(keys, now, chosen, done, write_plan)
  for first = 1, #chosen, MAX_PLAN_LEASES do
    local plan, ids, known = open_plan(keys, now), {}, {}
    for i = first, math.min(first + MAX_PLAN_LEASES - 1, #chosen) do
      append(ids, chosen[i].id)
      append(known, chosen[i].task)
    end
    local failed = not plan and { 'newer_schema' } or write_plan(plan, ids, known, first - 1)
    if failed and first == 1 then
      return failed, nil
    elseif failed then
      -- Reports what was written. The next call reports why this one stopped.
      return first - 1, chosen[first].number - 1
    end
  end
  return #chosen, done
end

-- Adds to a plan that the record of an ended task is deleted. A tombstone stays while a late copy of a
-- request may arrive, and while the id is unique. Ghosts in the list stay counted.
local function erase(plan, id, task)
  local known_until = math.min(tonumber(task.ended_at or 0), plan.now) + RESEND_WINDOW
  if known_until > plan.now then
    add(task, 'version', 1)
    task.state, task.history, task.reason, task.errors = STATE.deleted, nil, nil, nil
    task.max_attempts, task.result_ttl, task.dead_ttl = nil, nil, nil
    plan_write(plan, 'HSET tasks', id, '')
    plan_write(plan, 'HSET tasks', '.' .. id, format(task, ''))
    plan_write(plan, 'ZADD expiry', int(known_until), id)
  else
    local fields, removed = planned_writes(plan, 'HSET tasks'), planned_writes(plan, 'HDEL tasks')
    local unique_until = forget_task(fields, removed, id, task, plan.now)
    if unique_until then
      plan_write(plan, 'ZADD expiry', unique_until, id)
    else
      plan_write(plan, 'ZREM expiry', id)
    end
  end
  plan_write(plan, 'ZREM dead', id)
  note_event(plan, 'deleted', id)
end
