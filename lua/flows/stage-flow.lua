-- stage-flow: keeps nodes of a large flow, which `add-flow` records later as what remains to be added. If it
-- does not, a sweep removes them.
local tasks = KEYS[1] -- hash  records and control fields
local expiry = KEYS[2] -- zset  id -> when its record is deleted (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local root = ARGV[2] -- the node of which these are: if it is known, all has been added
local kept_for = ARGV[3] -- how long (ms) they are kept
local items = ARGV -- then for each: member (an entry of the outbox), text (its value)
-- Returns {'ok'}

local FIRST = 3
if redis.call('HEXISTS', tasks, root) == 0 then
  local fields, ends, at = {}, {}, int(clock(test_now) + tonumber(kept_for))
  for place = FIRST + 1, #items, 2 do
    append(fields, items[place], items[place + 1])
    append(ends, at, items[place])
  end
  -- The times first: what has none would stay.
  write('ZADD', expiry, ends)
  write('HSET', tasks, fields)
end
return { 'ok' }
