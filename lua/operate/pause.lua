-- pause: pauses the queue for a time, unless it is paused for as long already. Changes no task. (I3)
local tasks = KEYS[1] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local length = ARGV[2] -- for how long (ms)
-- Returns {'ok'}
--      or {'newer_schema'}

local set = redis.call('HGET', tasks, '~set') or '1'
if newer_settings(set) then
  return { 'newer_schema' }
end
local paused, ends = tonumber(string.match(set, ';p=(%d+)') or 0), clock(test_now) + tonumber(length)
if paused == 1 or paused >= ends then
  return { 'ok' }
end
set = string.gsub(set, ';p=%d+', '') .. ';p=' .. int(ends)
-- Consumers that meet the pause end. When it is over, the next wake must not wait for them.
return store_fields(tasks, { '~set', set, '~wake', '' }) or { 'ok' }
