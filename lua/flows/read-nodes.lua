-- read-nodes: reads what has become of nodes of a flow. Changes nothing.
local delayed = KEYS[1] -- zset  id -> due (ms)
local tasks = KEYS[2] -- hash  records and control fields
local max_bytes = ARGV[1] -- about how many bytes of records it reads
local deep = ARGV[2] -- '1' for the deep sweep: nodes without one of their records count as not known
local items = ARGV -- then for each, at most 500: id
-- Returns {'ok', then for each node, as far as the call came: id, state ('' if it is not known), reason (''
--          if it has none), the id of the task with which it fell, or '', of a join: enqueued at, ended at,
--          `N`, `C`, with spaces between, of a task that went on after it had been rejected: 'again', else
--          '', with deep: its edges as in `Q` while it waits,
--          '?' for a blocked task that has lost them, else ''}

local reply, ids = { 'ok' }, {}
for i = 3, #items do
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

-- The state of a node as the deep sweep needs it. record: its changing record, or false; due: as in `delayed`
local function state_with_records(id, task, record, due)
  if has_ended(task) then
    return state_of(task)
  elseif record then
    return redis.call('HEXISTS', tasks, id) == 1 and state_of(task) or ''
  elseif not has_payload(redis.call('HGET', tasks, id)) then
    return ''
  end
  -- One that is not blocked gets another record when its partition is repaired.
  return tonumber(due or 0) >= tonumber(BLOCKED.task) and '' or 'pending'
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
    local state
    if deep == '1' then
      state = state_with_records(own[i], task, record, scores[i])
    else
      state = state_of(task)
    end
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
      or (string.find(task.history or '', 'r%d+[pdb]') and 'again')
      or ''
    if deep == '1' then
      -- A blocked task that has a payload and no record.
      local is_without = not record and state == '' and has_payload(redis.call('HGET', tasks, own[i]))
      reply[#reply + 1] = is_without and '?' or (task.state == STATE.waiting and task.edges) or ''
    else
      reply[#reply + 1] = ''
    end
  end
  done = done + #own
  slice = math.max(1, math.min(128, math.floor((max_bytes - bytes) / (bytes / done + 1))))
end
return reply
