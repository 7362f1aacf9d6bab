-- settings: reads the settings of a queue, or of one group and how many tasks that has. Changes nothing.
local tasks = KEYS[1] -- hash  records and control fields
local group = ARGV[1] -- whose settings; empty: the queue's
-- Returns {'ok', settings ('' for none), and of a group how many tasks are ready, working, in `limited`}
--      or {'newer_schema'}

local field = group == '' and '~set' or '~s:' .. group
local found = redis.call('HMGET', tasks, field, '~g:' .. group)
if newer_settings(found[1]) or newer(found[2]) then
  return { 'newer_schema' }
end
local state = parse_group(group, group ~= '' and found[2] or '', found[1])
return { 'ok', found[1] or '', state.ready, state.working, state.limited }
