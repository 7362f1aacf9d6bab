-- plain-tasks: what the enqueues of plain tasks have in common: tasks for now, without group, priority or
-- anything that makes them unique.

-- How many arguments each task has: its id, and its record from the options on.
local PLAIN_STRIDE = 2

-- Whether settings concern an enqueue of plain tasks: maxPending, events, statistics, and with a wake also a
-- pause.
local function concerns_enqueues(settings, wakes)
  return settings
    and (
      string.find(settings, '^1;') == nil
      or string.find(settings, ';[bes]=') ~= nil
      or (wakes and string.find(settings, ';p=') ~= nil)
    )
end

-- Stores a lone task if its id is free. Returns nothing, or else the reply.
local function store_alone(tasks, id, record, now_text)
  local made = redis.pcall('HSETNX', tasks, id, '1;' .. now_text .. record)
  if made == 1 then
    return nil
  end
  -- A marker is in the place of the hash.
  local has_marker = made ~= 0 and string.find(made.err, 'WRONGTYPE', 1, true)
  return has_marker and made or { 'not_plain' }
end

-- The ids of new tasks, and as fields of `tasks` their fixed records. Neither if an id is given twice.
-- new: the arguments of the script; front: how many are in front of the tasks.
local function read_plain_tasks(new, front, now_text)
  local ids, fields, met = {}, {}, {}
  for i = 1, (#new - front) / PLAIN_STRIDE do
    local id, record = unpack(new, PLAIN_STRIDE * i + front - 1, PLAIN_STRIDE * i + front)
    if met[id] then
      return nil, nil
    end
    met[id], ids[i] = true, id
    fields[PLAIN_STRIDE * i - 1], fields[PLAIN_STRIDE * i] = id, '1;' .. now_text .. record
  end
  return ids, fields
end

-- Stores tasks, and puts them in line. Returns false if Redis is full: then nothing has changed.
local function put_in_line(pending, tasks, ids, fields)
  if type(redis.pcall('HSET', tasks, unpack(fields))) ~= 'number' then
    return false
  end
  redis.call('LPUSH', pending, unpack(ids))
  return true
end

-- Whether one of the ids is known. stored: the result of `read_first_lines`.
local function any_known(stored, ids)
  for _, id in ipairs(ids) do
    if stored[id] then
      return true
    end
  end
  return false
end
