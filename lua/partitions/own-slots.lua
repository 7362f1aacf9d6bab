-- own-slots: notes which slots a partition owns, unless a later version of the map was noted already.
local tasks = KEYS[1] -- hash  records and control fields
local version = ARGV[1] -- of the map
local owned = ARGV[2] -- 64 hex digits; see slots.lua
-- Returns {'ok', 1 if the partition had slots under a map or any other field before, else 0}
--      or {'newer_schema'}
--      or {'older', version of the map that was noted already}: nothing has changed

local noted = redis.call('HGET', tasks, '~slots')
if newer(noted) then
  return { 'newer_schema' }
end
local noted_version = tonumber((string.match(noted or '', '^1;(%d+);')) or 0)
if noted_version > tonumber(version) then
  return { 'older', noted_version }
end
-- Producers may add to a partition that had slots before. Version 0 is that of a queue without a map.
local used = 1
if noted_version == 0 and redis.call('HLEN', tasks) == (noted and 1 or 0) then
  used = 0
end
redis.call('HSET', tasks, '~slots', '1;' .. version .. ';' .. owned)
return { 'ok', used }
