-- find-foreign: reads a page of the ids from before a time, and of the dedup keys, that a partition knows.
-- Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local cursor = ARGV[1] -- of HSCAN; 0 at the beginning
local size = ARGV[2] -- about this many fields, 1 to 1,000
local before = ARGV[3] -- leaves out ids of tasks that were enqueued at this time (ms) or later
-- Returns {'ok', the next cursor, 0 at the end; the run of Redis in which the cursor is valid, empty if Redis
--          does not say it; then ids that may come again, and all dedup keys after '~d:'}

-- True for a record from before that time with the token of a producer: a caller chose its id, or it derives
-- from an idempotency key.
local function may_come_again(record, enqueued_at)
  return string.find(record, '^[^\n]*;t=') and tonumber(enqueued_at or 0) < tonumber(before)
end

-- After a restart the hash has another order: the rest from the old cursor on may lack fields.
local server = redis.pcall('INFO', 'server')
local page = redis.call('HSCAN', tasks, cursor, 'COUNT', size)
local reply = { 'ok', page[1], type(server) == 'string' and string.match(server, 'run_id:(%w+)') or '' }
local fields, ended, changing = page[2], {}, {}
for i = 1, #fields, 2 do
  local field, value = fields[i], fields[i + 1]
  local first = string.sub(field, 1, 1)
  if string.sub(field, 1, 3) == '~d:' then
    append(reply, field)
  elseif first ~= '~' and first ~= '.' then
    if value == '' then
      append(ended, field)
      append(changing, '.' .. field)
    elseif may_come_again(value, (string.match(value, '^1;(%d+)'))) then
      append(reply, field)
    end
  end
end
-- The fixed record of most ended tasks is empty. Their changing record has the token of their producer. The
-- pages may lack it, if the task ended while they were read.
local lines = read_first_lines(tasks, changing)
for i, id in ipairs(ended) do
  local line = lines[changing[i]] or ''
  if may_come_again(line, (string.match(line, '^1;%d+;(%d+)'))) then
    append(reply, id)
  end
end
return reply
