-- sweep: promote, reclaim, and drop the records whose time is over; at most `limit` of each. (I5 I6 I8)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local working = KEYS[2] -- zset  id -> lease deadline (ms)
local delayed = KEYS[3] -- zset  id -> due (ms)
local tasks = KEYS[4] -- hash  records and control fields
local expiry = KEYS[5] -- zset  id -> when its record goes away (ms)
local dead = KEYS[6] -- zset  id -> when it was rejected (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local limit = ARGV[2] -- at most this many tasks of each kind, 1 to 10,000
-- Returns {'ok', promoted, reclaimed, rejected, expired, 1 where a limit was reached}
--      or {'newer_schema'}

local most = tonumber(limit)
local now = clock(test_now)

-- expire: completed | rejected -> nothing.
local function expire()
  local ids = redis.call('ZRANGE', expiry, '-inf', int(now), 'BYSCORE', 'LIMIT', '0', limit)
  local names = {}
  for i, id in ipairs(ids) do
    names[i] = '.' .. id
  end
  local records = read('HMGET', tasks, names)
  local gone, ghosts = {}, {}
  for i, id in ipairs(ids) do
    if newer(records[i]) then
      return nil
    end
    local task = parse(records[i])
    if tonumber(task.g or 0) > 0 then
      -- The list still holds the id: what is left of the record says so.
      append(ghosts, names[i], ghost_record('g', task.g))
    elseif task.s == 'c' or task.s == 'r' then
      append(gone, id, names[i])
    end
  end
  write('HDEL', tasks, gone)
  write('HSET', tasks, ghosts)
  write('ZREM', expiry, ids)
  write('ZREM', dead, ids)
  return #ids
end

local reclaimed, rejected = reclaim(pending, working, delayed, tasks, expiry, dead, now, most)
local promoted = reclaimed and promote(pending, delayed, now, most)
local expired = reclaimed and expire()
if not expired then
  return { 'newer_schema' }
end
local more = reclaimed + rejected == most or promoted == most or expired == most
return { 'ok', promoted, reclaimed, rejected, expired, more and 1 or 0 }
