-- find-foreign: reads a page of the ids and dedup keys that a partition knows. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local cursor = ARGV[1] -- of HSCAN; 0 at the beginning
local size = ARGV[2] -- about this many fields, 1 to 1,000
-- Returns {'ok', the next cursor, 0 at the end; then ids that producers chose, and dedup keys after '~d:'}

-- True for a record whose first line has the token of a producer: its id was chosen by the caller.
local function is_of_producer(record)
  return string.find(record, '^[^\n]*;t=')
end

local reply = { 'ok', '' }
local page = redis.call('HSCAN', tasks, cursor, 'COUNT', size)
reply[2] = page[1]
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
    elseif is_of_producer(value) then
      append(reply, field)
    end
  end
end
-- The fixed record of most ended tasks is empty. Their changing record has the token of their producer. The
-- pages may lack it, if the task ended while they were read.
local lines = read_first_lines(tasks, changing)
for i, id in ipairs(ended) do
  if is_of_producer(lines[changing[i]] or '') then
    append(reply, id)
  end
end
return reply
