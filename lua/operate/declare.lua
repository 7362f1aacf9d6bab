-- declare: records which declaration of the queue was applied last. (I3)
local tasks = KEYS[1] -- hash  records and control fields
local record = ARGV[1] -- the new content of `~declared`; see README.md
-- Returns {'ok'} | {'newer_schema'}

if newer(redis.call('HGET', tasks, '~declared') or nil) then
  return { 'newer_schema' }
end
return error_of(redis.pcall('HSET', tasks, '~declared', record)) or { 'ok' }
