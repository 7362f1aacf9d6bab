-- read-before: reads what has become of the tasks and inner flows that a task waits for. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local id = ARGV[1] -- the task: those of its queue are read; or '': those that follow are
local queue = ARGV[2] -- the name of the queue, without the partition
local bytes = ARGV[3] -- no more is read once the reply has so many bytes
local items = ARGV -- then for each that is read, at most 2,000: id
-- Returns {'ok', what the task waits for ('': not known), how many of those to read were not read, the last
--          ones: because of `bytes`, or behind 2,000. Then for each that was read: id, state ('completed',
--          'rejected', or '': it has not ended, or is not known), changing record}

local waits_for = id ~= '' and redis.call('HGET', tasks, '~p:' .. id) or ''
local flow, ids, size = string.match(id, '{.*}$'), {}, 0
for i = 4, #items do
  ids[#ids + 1] = items[i]
end
for number, name in string.gmatch(waits_for, ',"?([^",]+)"?,"([^"/]+)/?%d*"%]') do
  if name == queue then
    ids[#ids + 1] = number .. flow
  end
end
local reply, READ, MOST = { 'ok', waits_for, 0 }, 50, 2000
for first = 1, #ids, READ do
  if size >= tonumber(bytes) or first > MOST then
    reply[3] = #ids - first + 1
    break
  end
  local names = {}
  for i = first, math.min(first + READ - 1, #ids) do
    names[#names + 1] = '.' .. ids[i]
  end
  for i, record in ipairs(redis.call('HMGET', tasks, unpack(names))) do
    -- Not parsed as a whole: there may be thousands.
    local letter = string.match(record or '', '^%d+;%d+;%d*;%d+;%d+;(%a?);')
    local state = letter == STATE.completed and 'completed' or letter == STATE.rejected and 'rejected' or ''
    append(reply, ids[first + i - 1], state)
    reply[#reply + 1] = state ~= '' and record or ''
    size = size + #reply[#reply]
  end
end
return reply
