-- put-shares: writes the shares of all partitions, if they are still as the caller has read them. (I3)
local tasks = KEYS[1] -- hash  records and control fields, of partition 0
local was = ARGV[1] -- `~shares` as the caller read it; empty: none
local shares = ARGV[2] -- its new content; see partitions.md
-- Returns {'ok', the shares that are there now}: the new ones if they were written, else another caller's
--      or {'newer_schema'}

local found = redis.call('HGET', tasks, '~shares') or ''
if newer(found) then
  return { 'newer_schema' }
elseif found ~= was then
  return { 'ok', found }
end
return error_of(redis.pcall('HSET', tasks, '~shares', shares)) or { 'ok', shares }
