-- resends: remembers a dequeue by its token, so that a copy of it gets the same tasks.

-- The field that remembers the call of a token. Calls for over 100 tasks share 64 fields, others 1,024.
local function slot_of(token, max)
  local a, b, c, d = string.byte(token, -4, -1)
  local hash = ((a * 31 + b) * 31 + c) * 31 + d
  return max > 100 and '~R' .. int(hash % 64) or '~r' .. int(hash % 1024)
end

local function all_slots()
  local slots = {}
  for i = 0, 1023 do
    slots[#slots + 1] = '~r' .. int(i)
  end
  for i = 0, 63 do
    slots[#slots + 1] = '~R' .. int(i)
  end
  return slots
end

-- Marks a token as used after a copy that found nothing, so that a first copy that arrives late leases
-- nothing. A full Redis refuses this write. Then such a copy leases tasks, which wait until their leases
-- expire.
local function use_up_token(tasks, slot, token)
  redis.pcall('HSET', tasks, slot, token)
end

local function append_task(reply, id, task, deadline, fixed)
  local delivery = tonumber(task.attempts)
  if tonumber(task.charged) ~= delivery or task.expired_leases then
    delivery = table.concat({ int(task.attempts), int(task.charged), task.expired_leases or '0' }, ',')
  end
  append(reply, id, delivery)
  append(reply, tonumber(task.lease_number), deadline)
  reply[#reply + 1] = fixed
end

-- The reply to a copy of a call that has run already: the tasks that are still leased under its token.
local function still_leased(keys, now, token, leased)
  local ids, fields = {}, {}
  for id in string.gmatch(leased, '%S+') do
    ids[#ids + 1] = id
    append(fields, id, '.' .. id)
  end
  local found = read('HMGET', keys.tasks, fields)
  local deadlines = read('ZMSCORE', keys.working, ids)
  local reply = { 'ok', now }
  for i, id in ipairs(ids) do
    local task = parse(found[2 * i])
    if task.state == STATE.working and task.lease_token == token then
      append_task(reply, id, task, tonumber(deadlines[i] or 0), found[2 * i - 1])
    end
  end
  return reply
end
