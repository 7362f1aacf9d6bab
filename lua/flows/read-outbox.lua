-- read-outbox: reads what a partition has to notify others. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local expiry = KEYS[2] -- zset  id -> when its record is deleted (ms)
local size = ARGV[1] -- at most this many entries, 1 to 100
-- Returns {'ok', how many nodes of flows have not ended here, then for each entry: its member of `expiry`,
--          what it is ('node', 'field' or 'cancel'), outcome, followers, because; of a field: '', its
--          value, ''; of 'cancel': '', '', ''}
-- outcome, because: as `notify` takes them. A flow as a whole has the followers ' -'

local members = redis.call('ZRANGE', expiry, BLOCKED, '+inf', 'BYSCORE', 'LIMIT', '0', size)
local names, reply = { '~nodes' }, { 'ok' }
for _, member in ipairs(members) do
  local id = string.sub(member, 4)
  append(names, member, '.' .. id)
  names[#names + 1] = id
end
local found = read('HMGET', tasks, names)
reply[2] = tonumber(found[1] or 0)
for i, member in ipairs(members) do
  local field, record, fixed = found[3 * i - 1], found[3 * i], found[3 * i + 1]
  if string.find(member, ' !%l ') then
    append(reply, member, 'cancel')
    append(reply, '', '')
    reply[#reply + 1] = ''
  elseif field then
    append(reply, member, 'field')
    append(reply, '', field)
    reply[#reply + 1] = ''
  else
    local task, text = parse_with(fixed or '', record)
    local outcome = has_ended(task) and (task.reason and 'failed' or 'completed') or 'open'
    append(reply, member, 'node')
    append(reply, outcome, task.followers or ' -')
    reply[#reply + 1] = task.node_kind and string.match(text, '^j"(.*)"$') or string.sub(member, 4)
  end
end
return reply
