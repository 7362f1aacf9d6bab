-- read-outbox: reads what a partition has to notify others. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local expiry = KEYS[2] -- zset  id -> when its record is deleted (ms)
local size = ARGV[1] -- at most this many entries, 1 to 100
local skip = ARGV[2] -- how many of the first entries to leave out
-- Returns {'ok', how many nodes of flows have not ended here, then for each entry: its member of `expiry`,
--          what it is ('node', 'field', 'cancel' or 'lost'), outcome, followers, because; of others than
--          nodes: '', '', ''}
-- outcome, because: as `notify` takes them. A flow as a whole has the followers ' -'

local members = redis.call('ZRANGE', expiry, BLOCKED.task, '+inf', 'BYSCORE', 'LIMIT', skip, size)
local names, reply = { '~nodes' }, { 'ok' }
for _, member in ipairs(members) do
  names[#names + 1] = '.' .. string.sub(member, 4)
end
local found = read('HMGET', tasks, names)
reply[2] = tonumber(found[1] or 0)
for i, member in ipairs(members) do
  append(reply, member)
  -- The field of a piece of a flow may be large: its reader reads one at a time.
  if string.find(member, ' ', 1, true) then
    local is_lost = string.find(member, ' ![lh] ') ~= nil
    local kind = string.find(member, ' !', 1, true) and 'cancel' or 'field'
    append(reply, is_lost and 'lost' or kind, '')
    append(reply, '', '')
  else
    local task, text = parse(found[i + 1] or nil)
    local outcome = has_ended(task) and flows.outcome_of(task) or 'open'
    append(reply, 'node', outcome)
    -- Of one whose record is lost the followers are not known: the deep sweep notifies them.
    local is_whole = string.find(member, '^~x:flow{') ~= nil
    reply[#reply + 1] = task.followers or (is_whole and ' -') or ''
    reply[#reply + 1] = task.node_kind and string.match(text, '^j"(.*)"$') or string.sub(member, 4)
  end
end
return reply
