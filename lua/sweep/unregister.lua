-- unregister: removes queues that have been unused since a given time from the registry, with their
-- reminders.
local queues = KEYS[1] -- zset  queue -> when it was last known to be in use (ms); ~queue -> its reminder (ms)
local since = ARGV[1] -- those noted later stay (ms), so that a late copy takes none that is in use again
local names = ARGV -- then: names of queues, at most 500
-- Returns {'ok', how many went}

local asked = { unpack(names, 2) }
local removed = {}
for i, seen in ipairs(redis.call('ZMSCORE', queues, unpack(asked))) do
  if seen and tonumber(seen) <= tonumber(since) then
    append(removed, asked[i], '~' .. asked[i])
  end
end
write('ZREM', queues, removed)
return { 'ok', #removed / 2 }
