-- get: reads one task. Changes nothing.
local working = KEYS[1] -- zset  id -> lease deadline (ms)
local delayed = KEYS[2] -- zset  id -> due (ms)
local tasks = KEYS[3] -- hash  records and control fields
local id = ARGV[1] -- the task's id
local payload = ARGV[2] -- '1' to return the payload
-- Returns {'ok', state, due or deadline (ms; 0: none), fixed record without its payload ('' if it has
--          none), payload ('' if not asked for, or none), changing record ('' before the first change)}
--      or {'not_found'} | {'newer_schema'}

local found = redis.call('HMGET', tasks, id, '.' .. id)
local fixed, record = found[1], found[2] or ''
if newer(fixed) or newer(record) then
  return { 'newer_schema' }
end
local task = parse(record)
if not fixed or task.state == STATE.ghost or task.state == STATE.deleted then
  return { 'not_found' }
end

fixed = without_payload(fixed)
local body = payload == '1' and string.sub(found[1], #fixed + 1) or ''
if task.state == STATE.completed then
  return { 'ok', 'completed', 0, fixed, body, record }
elseif task.state == STATE.rejected then
  return { 'ok', 'rejected', 0, fixed, body, record }
elseif task.state == STATE.working then
  local deadline = redis.call('ZSCORE', working, id)
  return { 'ok', 'working', tonumber(deadline or 0), fixed, body, record }
end
local due = redis.call('ZSCORE', delayed, id)
return { 'ok', due and 'delayed' or 'pending', tonumber(due or 0), fixed, body, record }
