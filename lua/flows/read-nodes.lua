-- read-nodes: reads what has become of nodes of a flow. Changes nothing.
local delayed = KEYS[1] -- zset  id -> due (ms)
local tasks = KEYS[2] -- hash  records and control fields
local max_bytes = ARGV[1] -- about how many bytes of records it reads
local items = ARGV -- then for each, at most 500: id
-- Returns {'ok', then for each node, as far as the call came: id, state ('' if it is not known), reason (''
--          if it has none), the id of the task with which it fell, or '', of a join: enqueued at, ended at,
--          `N`, `C`, with spaces between, else ''}

local reply, ids = { 'ok' }, {}
for i = 2, #items do
  ids[#ids + 1] = items[i]
end

local states = { [STATE.working] = 'working', [STATE.completed] = 'completed', [STATE.rejected] = 'rejected' }

-- The state of a node. One whose record was deleted has ended.
local function state_of(task)
  if task.state == STATE.waiting then
    return task.edges and 'blocked' or 'pending'
  elseif task.state == STATE.deleted then
    return task.reason and 'rejected' or 'completed'
  end
  return states[task.state] or ''
end

local done, bytes, slice = 0, 0, 16
while done < #ids and bytes < tonumber(max_bytes) do
  local names, own = {}, {}
  for i = done + 1, math.min(done + slice, #ids) do
    names[#names + 1] = '.' .. ids[i]
    own[#own + 1] = ids[i]
  end
  local scores = redis.call('ZMSCORE', delayed, unpack(own))
  for i, record in ipairs(redis.call('HMGET', tasks, unpack(names))) do
    local task, text = parse(record or nil)
    local state = state_of(task)
    if state == 'pending' and scores[i] then
      state = 'delayed'
    end
    bytes = bytes + #(record or '')
    append(reply, own[i], state)
    append(reply, task.reason or '', string.match(text, '^j"(%w+{.*)"$') or '')
    reply[#reply + 1] = task.node_kind
        and table.concat(
          { task.enqueued_at, task.ended_at or '', task.cancelled or '', task.cancels_at or '' },
          ' '
        )
      or ''
  end
  done = done + #own
  slice = math.max(1, math.min(128, math.floor((max_bytes - bytes) / (bytes / done + 1))))
end
return reply
