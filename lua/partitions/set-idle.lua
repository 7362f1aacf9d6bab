-- set-idle: records in the registry until when partitions have nothing to do, if none was in use meanwhile.
local queues = KEYS[1] -- zset  partition -> when it was last in use (ms); idle: when its next task is due,
-- or the negative of when it was last in use
local names = ARGV -- then for each partition: name, seen, idle
-- seen: the score as the caller has read it, before it found the partition empty; idle: the new score
-- Returns {'ok', how many are idle now}

local asked = {}
for i = 1, #names, 3 do
  append(asked, names[i])
end
local members = {}
for i, score in ipairs(redis.call('ZMSCORE', queues, unpack(asked))) do
  if score and int(score) == int(names[3 * i - 1]) then
    append(members, names[3 * i], names[3 * i - 2])
  end
end
write('ZADD', queues, members)
return { 'ok', #members / 2 }
