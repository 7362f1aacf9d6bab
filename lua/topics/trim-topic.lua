-- trim-topic: removes the oldest messages that a topic has retained, until they are within its bounds.
local messages = KEYS[1] -- zset  message -> when it was published (ms); '~<counted>;<their bytes>' -> 0
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local keep_for = ARGV[2] -- (ms) for how long messages are kept
local most = ARGV[3] -- most bytes of all messages
local max_bytes = ARGV[4] -- about how many bytes of messages one call reads
-- Returns {'ok', how many messages are left, bytes of those that are counted, removed, 1 if more is to do}

local note = redis.call('ZRANGE', messages, '0', '0')[1]
local counted, bytes = string.match(note or '', '^~(%d+);(%d+)$')
local at_front = counted and 1 or 0
local size = redis.call('ZCARD', messages) - at_front
counted, bytes = tonumber(counted or 0), tonumber(bytes or 0)
local was_counted, budget = counted, tonumber(max_bytes)

-- New messages are behind the counted ones, except a few that came late. These shift others behind, so the
-- number is right, and the bytes about.
while counted < size and budget > 0 do
  local from = at_front + counted
  local page = redis.call('ZRANGE', messages, int(from), int(from + (counted > was_counted and 99 or 9)))
  for _, message in ipairs(page) do
    counted, bytes, budget = counted + 1, bytes + #message, budget - #message
  end
end

local expired, removed = clock(test_now) - tonumber(keep_for), {}
local kept = false
while not kept and budget > 0 and #removed < size do
  local from = at_front + #removed
  local page = redis.call('ZRANGE', messages, int(from), int(from + 9), 'WITHSCORES')
  for i = 1, #page, 2 do
    if tonumber(page[i + 1]) >= expired and bytes <= tonumber(most) then
      kept = true
      break
    end
    removed[#removed + 1] = page[i]
    counted, bytes, budget = math.max(0, counted - 1), math.max(0, bytes - #page[i]), budget - #page[i]
  end
end
write('ZREM', messages, removed)
local left = size - #removed
local now_note = left > 0 and '~' .. int(counted) .. ';' .. int(bytes) or nil
if note and at_front == 1 and note ~= now_note then
  redis.call('ZREM', messages, note)
end
if now_note and note ~= now_note then
  redis.call('ZADD', messages, '0', now_note)
end
return { 'ok', left, bytes, #removed, (counted < left or (not kept and left > 0)) and 1 or 0 }
