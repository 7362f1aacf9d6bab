-- trim-topic: removes the oldest messages that a topic has retained, until they are within its bounds.
local messages = KEYS[1] -- zset  message -> when it was published (ms); '~<counted>;<their bytes>' -> 0
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local keep_for = ARGV[2] -- (ms) for how long messages are kept
local most = ARGV[3] -- most bytes of all messages
local max_bytes = ARGV[4] -- about how many bytes of messages one call reads
-- Returns {'ok', how many messages are left, bytes of those that are counted, removed, 1 if more is to do}

local note = redis.call('ZRANGE', messages, '0', '0')[1]
local found_count, found_bytes = string.match(note or '', '^~(%d+);(%d+)$')
local at_front = found_count and 1 or 0
local size = redis.call('ZCARD', messages) - at_front
local counted = tonumber(found_count or 0)
local bytes = tonumber(found_bytes or 0)
local budget = tonumber(max_bytes)

-- New messages are behind the counted ones, except a few that came late. These shift others behind, so the
-- number is right, and the bytes about. Few are read at first, because they may be large.
local step = 10
while counted < size and budget > 0 do
  local from = at_front + counted
  for _, message in ipairs(redis.call('ZRANGE', messages, int(from), int(from + step - 1))) do
    counted = counted + 1
    bytes = bytes + #message
    budget = budget - #message
  end
  step = 100
end

local expired, removed, kept = clock(test_now) - tonumber(keep_for), {}, false
while not kept and budget > 0 and #removed < size do
  local from = at_front + #removed
  local page = redis.call('ZRANGE', messages, int(from), int(from + 9), 'WITHSCORES')
  for i = 1, #page, 2 do
    kept = tonumber(page[i + 1]) >= expired and bytes <= tonumber(most)
    if kept then
      break
    end
    removed[#removed + 1] = page[i]
    counted = math.max(0, counted - 1)
    bytes = math.max(0, bytes - #page[i])
    budget = budget - #page[i]
  end
end
local left = size - #removed
local is_done = left == 0 or (kept and counted == left)
local new_note = left > 0 and '~' .. int(counted) .. ';' .. int(bytes)
if at_front == 1 and note ~= new_note then
  append(removed, note)
end
write('ZREM', messages, removed)
if new_note and note ~= new_note then
  redis.call('ZADD', messages, '0', new_note)
end
return { 'ok', left, bytes, size - left, is_done and 0 or 1 }
