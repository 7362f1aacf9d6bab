-- read-topic: reads a page of what a topic has retained, the oldest first. Writes nothing.
local messages = KEYS[1] -- zset  message -> when it was published (ms); '~' and its size -> 0
local from = ARGV[1] -- (ms) the first instant
local skip = ARGV[2] -- how many messages of that instant come before the page
local to = ARGV[3] -- (ms) the last instant
local size = ARGV[4] -- most messages, 1 to 1,000
local max_bytes = ARGV[5] -- most bytes of messages; one is returned anyway
-- Returns {'ok', (ms) and skip of the next page, 1 if there may be more, then for each: message}

local first, passed, bytes = tonumber(from), tonumber(skip), 0
local most_bytes = tonumber(max_bytes)
local reply, ended = { 'ok', from, skip, 1 }, false
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
reply[2], reply[3] = int(first), int(passed)
return reply
