-- unregister: removes from the registry queues that have not been in use since a given time, with their
-- reminders.
local queues = KEYS[1] -- zset  queue -> when it was last in use (ms); ~queue -> its reminder (ms)
local since = ARGV[1] -- (ms) queues in use since then stay, so that a late copy removes none of them
local names = ARGV -- then: names of queues, at most 500
-- Returns {'ok', how many were removed}

local asked = { unpack(names, 2) }
local removed = {}
for i, seen in ipairs(redis.call('ZMSCORE', queues, unpack(asked))) do
  if seen and tonumber(seen) <= tonumber(since) then
    append(removed, asked[i], '~' .. asked[i])
  end
end
write('ZREM', queues, removed)
return { 'ok', #removed / 2 }
