-- find-foreign: reads a page of the ids and dedup keys that a partition knows. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local cursor = ARGV[1] -- of HSCAN; 0 at the beginning
local size = ARGV[2] -- about this many fields, 1 to 1,000
-- Returns {'ok', the next cursor, 0 at the end; then ids that producers chose, and dedup keys after '~d:'}

local reply = { 'ok', '' }
local page = redis.call('HSCAN', tasks, cursor, 'COUNT', size)
reply[2] = page[1]
local fields = page[2]
for i = 1, #fields, 2 do
  local field, value = fields[i], fields[i + 1]
  local first = string.sub(field, 1, 1)
  -- The record of an ended task has no first line. Its changing record has the token of its producer.
  local of_producer = string.find(value, '^[^\n]*;t=')
  if first == '.' and of_producer then
    append(reply, string.sub(field, 2))
  elseif string.sub(field, 1, 3) == '~d:' or (first ~= '~' and first ~= '.' and of_producer) then
    append(reply, field)
  end
end
return reply
