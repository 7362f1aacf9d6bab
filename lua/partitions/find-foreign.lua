-- find-foreign: reads a page of the ids and dedup keys that a partition knows. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local cursor = ARGV[1] -- of HSCAN; 0 at the beginning
local size = ARGV[2] -- about this many fields, 1 to 1,000
local before = ARGV[3] -- leaves out ids that derive from idempotency keys from this time (ms) on
-- Returns {'ok', the next cursor, 0 at the end; the run of Redis in which the cursor is valid, empty if Redis
--          does not say it; then ids that producers chose, others that may come again after '~k:', and dedup
--          keys, or groups in strict order, after '~d:'}

-- After a restart the hash has another order: the rest from the old cursor on may lack fields.
local server = redis.pcall('INFO', 'server')
local page = redis.call('HSCAN', tasks, cursor, 'COUNT', size)
local reply = { 'ok', page[1], type(server) == 'string' and string.match(server, 'run_id:(%w+)') or '' }
local slot_name = slot_names(tasks)

-- Adds an id if its record has the token of a producer. With an idempotency key the token has a dot, and an
-- id of 22 letters and digits derives from the key, or a caller chose it.
local function add_id(id, record, enqueued_at)
  local token = string.match(record, '^[^\n]*;t=([^;\n]*)')
  if not token then
    append(reply, slot_name and slot_name(record) or nil)
  elseif #id ~= 22 or string.find(id, '%W') or not string.find(token, '.', 1, true) then
    append(reply, id)
  elseif tonumber(enqueued_at or 0) < tonumber(before) then
    append(reply, '~k:' .. id)
  end
end

local fields, ended, changing = page[2], {}, {}
for i = 1, #fields, 2 do
  local field, value = fields[i], fields[i + 1]
  local first = string.sub(field, 1, 1)
  -- Dedup keys, and those of debounce.
  if string.find(field, '^~[dDSI]:') then
    append(reply, '~d:' .. string.sub(field, 4))
  elseif first ~= '~' and first ~= '.' then
    if value == '' then
      append(ended, field)
      append(changing, '.' .. field)
    else
      add_id(field, value, (string.match(value, '^1;(%d+)')))
    end
  end
end
-- The fixed record of most ended tasks is empty. Their changing record has the token of their producer. The
-- pages may lack it, if the task ended while they were read.
local lines = read_first_lines(tasks, changing)
for i, id in ipairs(ended) do
  local line = lines[changing[i]] or ''
  add_id(id, line, (string.match(line, '^1;%d+;(%d+)')))
end
return reply
