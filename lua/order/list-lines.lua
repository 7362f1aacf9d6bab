-- list-lines: reads a page of the groups in strict order with a line that is not held. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local cursor = ARGV[1] -- of HSCAN; 0 at the beginning
local size = ARGV[2] -- about this many fields of the hash are passed over
-- Returns {'ok', the next cursor, 0 at the end; the run of Redis in which the cursor is valid, empty if Redis
--          does not say it; then the groups}

local server = redis.pcall('INFO', 'server')
local page = redis.call('HSCAN', tasks, cursor, 'MATCH', '~o:*', 'COUNT', size)
local run = type(server) == 'string' and string.match(server, 'run_id:(%w+)') or ''
local reply, fields = { 'ok', page[1], run }, page[2]
for i = 1, #fields, 2 do
  if not lines.parse_line(fields[i + 1]).hold then
    append(reply, string.sub(fields[i], 4))
  end
end
return reply
