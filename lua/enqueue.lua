-- enqueue: nothing -> pending | delayed. A known id changes nothing. (I1 I3 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local delayed = KEYS[2] -- zset  id -> due (ms)
local tasks = KEYS[3] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local new = ARGV -- then for each task: id, when ('' now, '+ms' later, 'ms' at), record from its options on
-- Returns {'ok', 1 or 0 for each task: created by this call or by an earlier copy of it}
--      or {'newer_schema'}

local now = clock(test_now)
local now_text = int(now)
local count = (#new - 1) / 3

local function id_of(i)
  return new[3 * i - 1]
end

local function record_of(i)
  return '1;' .. now_text .. new[3 * i + 1]
end

-- stored[i]: false where the id is unknown, else its fixed record without the payload.
local stored = {}
if count == 1 then
  -- One task: test and write in one command. A full Redis refuses to test too, but not to read.
  local reply = redis.pcall('HSETNX', tasks, id_of(1), record_of(1))
  local fixed = reply ~= 1 and redis.call('HGET', tasks, id_of(1))
  if reply ~= 1 and reply ~= 0 and not fixed then
    return reply
  end
  stored[1] = fixed and string.match(fixed, '^[^\n]*\n?')
else
  -- Few at a time: where ids are known already, payloads come along.
  for first = 1, count, 100 do
    local ids = {}
    for i = first, math.min(first + 99, count) do
      ids[#ids + 1] = id_of(i)
    end
    for i, fixed in ipairs(redis.call('HMGET', tasks, unpack(ids))) do
      stored[first + i - 1] = fixed and string.match(fixed, '^[^\n]*\n?')
    end
  end
end

local created, seen, fields, back, later = {}, {}, {}, {}, {}
-- Ids of cancelled tasks that the list still holds: how many entries less, which records change or go.
local ghosts, reused, changed, spent = 0, {}, {}, {}

for i = 1, count do
  local id, fixed = id_of(i), stored[i]
  local ghost
  if newer(fixed) then
    return { 'newer_schema' }
  end
  if seen[id] then
    created[i] = 0
  elseif fixed and fixed ~= '' then
    created[i] = parse_fixed(fixed).t == parse_fixed(record_of(i)).t and 1 or 0
  elseif fixed == '' then
    local record = redis.call('HGET', tasks, '.' .. id)
    if newer(record) then
      return { 'newer_schema' }
    end
    local task = parse(record)
    if task.s == 'g' then
      ghost = task
    else
      created[i] = task.t == parse_fixed(record_of(i)).t and 1 or 0
    end
  end
  seen[id] = true
  if created[i] == nil then
    created[i] = 1
    if count > 1 or ghost then
      append(fields, id, record_of(i))
    end
    local when = new[3 * i]
    local due = 0
    if string.sub(when, 1, 1) == '+' then
      due = now + tonumber(string.sub(when, 2))
    elseif when ~= '' then
      due = tonumber(when)
    end
    if due > now then
      append(later, int(due), id)
    elseif not ghost then
      back[#back + 1] = id
    else
      -- The entry that a cancelled life left in the list is this task's place.
      add(ghost, 'g', -1)
      ghosts = ghosts - 1
    end
    reused[id] = ghost ~= nil
    if ghost and tonumber(ghost.g or 0) > 0 then
      append(changed, '.' .. id, ghost_record('', ghost.g))
    elseif ghost then
      spent[#spent + 1] = '.' .. id
    end
  end
end

-- Payloads first: a full Redis refuses here, and nothing else has been written.
for first = 1, #fields, SLICE do
  local reply = redis.pcall('HSET', tasks, unpack(fields, first, math.min(first + SLICE - 1, #fields)))
  if type(reply) == 'table' and reply.err then
    for i = 1, first - 1, 2 do
      if reused[fields[i]] then
        redis.call('HSET', tasks, fields[i], '')
      else
        redis.call('HDEL', tasks, fields[i])
      end
    end
    return reply
  end
end
write('HSET', tasks, changed)
write('HDEL', tasks, spent)
if ghosts < 0 then
  redis.call('HINCRBY', tasks, '~ghosts', int(ghosts))
end
write('LPUSH', pending, back)
write('ZADD', delayed, later)

local reply = { 'ok' }
for i = 1, count do
  reply[i + 1] = created[i]
end
return reply
