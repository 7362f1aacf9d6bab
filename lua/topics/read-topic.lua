-- read-topic: reads a page of what a topic has retained, the oldest first. Writes nothing.
local messages = KEYS[1] -- zset  message -> when it was published (ms); '~' and its size -> 0
local from = ARGV[1] -- (ms) the first instant
local after = ARGV[2] -- the first line of the message of that instant that was read last; empty: none was
local to = ARGV[3] -- (ms) the last instant
local size = ARGV[4] -- most messages, 1 to 1,000
local max_bytes = ARGV[5] -- most bytes of messages; one is returned anyway
-- Returns {'ok', (ms) and `after` of the next page, 1 if there may be more, then for each: message}

-- No message has the byte 255 behind its first line.
local place = after == '' and place_from(from) or from .. ' ' .. after .. '\n\255'
local reply, bytes, ended = { 'ok', from, after, 1 }, 0, false
while not ended and #reply - 4 < tonumber(size) do
  -- Few at a time, so that large messages are not read in vain.
  local step = math.min(tonumber(size) - (#reply - 4), bytes > 0 and 100 or 10)
  local page = entries_after(messages, place, step, int(tonumber(to) + 1))
  for _, entry in ipairs(page) do
    bytes = bytes + #entry.id
    ended = #reply > 4 and bytes > tonumber(max_bytes)
    if ended then
      break
    end
    reply[#reply + 1], place = entry.id, entry.place
    reply[2], reply[3] = entry.score, string.match(entry.id, '^[^\n]*')
  end
  if #page < step and not ended then
    reply[4], ended = 0, true
  end
end
return reply
