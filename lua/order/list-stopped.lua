-- list-stopped: reads a page of the groups that a dead letter has stopped. Changes nothing.
local fair_by_group = KEYS[1] -- zset  '<group> <score> <id>' of each task in fair
local tasks = KEYS[2] -- hash  records and control fields
local after = ARGV[1] -- the last group of the page before; empty for the first page
local size = ARGV[2] -- at most this many groups, 1 to 1,000
-- Returns {'ok', how many groups are stopped, then for each: its name, the id of the task that stops it}

local members = redis.call('ZRANGE', fair_by_group, '(~~' .. after, '(~~~', 'BYLEX', 'LIMIT', '0', size)
local reply, fields = { 'ok', redis.call('ZLEXCOUNT', fair_by_group, '[~~', '(~~~') }, {}
for i, member in ipairs(members) do
  fields[i] = '~o:' .. string.sub(member, 3)
end
for i, line in ipairs(read('HMGET', tasks, fields)) do
  append(reply, string.sub(fields[i], 4), string.match(line or '', '^1;%d+;%d+;%d+;[^;]*;(.*)$') or '')
end
return reply
