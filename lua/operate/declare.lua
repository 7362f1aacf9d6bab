-- declare: records which declaration of the queue was applied last, if no other was recorded meanwhile. (I3)
local tasks = KEYS[1] -- hash  records and control fields
local was = ARGV[1] -- `~declared` as the caller read it; empty: none
local record = ARGV[2] -- its new content; see README.md
-- Returns {'ok', 1 if it is recorded now, 0 if another caller has recorded another declaration}
--      or {'newer_schema'}

local found = redis.call('HGET', tasks, '~declared') or ''
if newer(found) then
  return { 'newer_schema' }
end
if found ~= was and found ~= record then
  return { 'ok', 0 }
end
return error_of(redis.pcall('HSET', tasks, '~declared', record)) or { 'ok', 1 }
