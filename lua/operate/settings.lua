-- settings: reads the settings of a queue, or of one group and how many tasks that has. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local group = ARGV[2] -- whose settings; empty: the queue's
-- Returns {'ok', settings ('' for none), and of a group how many tasks are ready, working, in `limited`
--          because of its limits, in line; and the id of the dead letter that stops it (empty: none)}
--      or {'newer_schema'}

local field = group == '' and '~set' or '~s:' .. group
local found = redis.call('HMGET', tasks, field, '~g:' .. group, '~o:' .. group)
if newer_settings(found[1]) or newer(found[2]) then
  return { 'newer_schema' }
end
local text = current_settings(found[1], function()
  return clock(test_now)
end)
local state = parse_group(group, group ~= '' and found[2] or '', text)
local line = lines.parse_line(found[3] or nil)
local reply = { 'ok', text, state.ready, state.working, state.limited, line.waiting }
append(reply, line.stopped and line.head or '')
return reply
