-- set-reminder: writes when schedules of queues are next due, and that these queues are in use.
local queues = KEYS[1] -- zset  queue -> when it was last in use (ms); ~queue -> its reminder (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local items = ARGV -- then for each: queue, before, at (ms), at most 100
-- before: the reminder as read; if it has changed since, it stays. '': set it to `at` or to an earlier time
-- at: '' if the queue has no schedule left
-- Returns {'ok'}

local now = clock(test_now)
local members = {}
for i = 2, #items, 3 do
  append(members, items[i], '~' .. items[i])
end
local scores = redis.call('ZMSCORE', queues, unpack(members))
local updates, removed = {}, {}
for i = 1, #members, 2 do
  local before, at = items[(3 * i + 3) / 2], tonumber(items[(3 * i + 5) / 2])
  local seen, reminder = tonumber(scores[i] or 0), scores[i + 1] and tonumber(scores[i + 1])
  if before == '' and reminder then
    -- A sweep that read a due reminder may have run the schedules before this one was put, and must not
    -- replace the reminder then. So a due reminder becomes a millisecond earlier: the sweep sees the change.
    at = math.min(at, reminder <= now and reminder - 1 or reminder)
  end
  if before == '' or reminder == tonumber(before) then
    if at then
      append(updates, int(math.max(now, seen)), members[i])
      append(updates, int(at), members[i + 1])
    else
      removed[#removed + 1] = members[i + 1]
    end
  end
end
write('ZADD', queues, updates)
write('ZREM', queues, removed)
return { 'ok' }
