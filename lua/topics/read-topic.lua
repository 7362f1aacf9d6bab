-- read-topic: reads a page of what a topic has retained, the oldest first. Writes nothing.
local messages = KEYS[1] -- zset  message -> when it was published (ms); '~' and its size -> 0
local from = ARGV[1] -- (ms) the first instant
local after = ARGV[2] -- the first line of the message of that instant that was read last; empty: none was
local to = ARGV[3] -- (ms) the last instant
local size = ARGV[4] -- most messages, 1 to 1,000
local max_bytes = ARGV[5] -- most bytes of messages; one is returned anyway
-- Returns {'ok', (ms) and `after` of the next page, 1 if there may be more, then for each: message}

-- Whether a message of the first instant was read. They are in the order of bytes; Lua's `<` is by locale.
local function was_read(message)
  local last = after .. '\n'
  for i = 1, #last do
    local byte, other = string.byte(message, i, i), string.byte(last, i, i)
    if byte ~= other then
      return byte < other
    end
  end
  return true
end

-- How many messages of the first instant come before the page: fewer than were read, if a trim removed some.
local function count_read()
  local low, high = 0, redis.call('ZCOUNT', messages, from, from)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local found = redis.call('ZRANGE', messages, from, from, 'BYSCORE', 'LIMIT', int(middle), '1')
    if was_read(found[1]) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

local first, passed, bytes = tonumber(from), after == '' and 0 or count_read(), 0
local most_bytes = tonumber(max_bytes)
local reply, ended = { 'ok', from, after, 1 }, false
while not ended and #reply - 4 < tonumber(size) do
  -- Few at a time, so that large messages are not read in vain.
  local step = math.min(tonumber(size) - (#reply - 4), bytes > 0 and 100 or 10)
  local page =
    redis.call('ZRANGE', messages, int(first), to, 'BYSCORE', 'LIMIT', int(passed), int(step), 'WITHSCORES')
  for i = 1, #page, 2 do
    bytes = bytes + #page[i]
    if #reply > 4 and bytes > most_bytes then
      ended = true
      break
    end
    reply[#reply + 1] = page[i]
    local at = tonumber(page[i + 1])
    if at ~= first then
      first, passed = at, 0
    end
    passed = passed + 1
  end
  if #page < 2 * step and not ended then
    reply[4], ended = 0, true
  end
end
if #reply > 4 then
  reply[2], reply[3] = int(first), string.match(reply[#reply], '^[^\n]*')
end
return reply
