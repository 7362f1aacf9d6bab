-- sweep: promotes, reclaims and deletes expired records, at most `limit` of each; fails silent workers. (I5
-- I6 I8)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local fair_by_group = KEYS[3] -- zset  '<group> <score> <id>' of each task in fair
local limited = KEYS[4] -- zset  id -> place, of tasks whose group is at its limit
local working = KEYS[5] -- zset  id -> lease deadline (ms)
local delayed = KEYS[6] -- zset  id -> due (ms)
local tasks = KEYS[7] -- hash  records and control fields
local expiry = KEYS[8] -- zset  id -> when its record is deleted (ms)
local dead = KEYS[9] -- zset  id -> when it was rejected (ms)
local workers = KEYS[10] -- zset  worker -> when it counts as silent (ms)
local worker_leases = KEYS[11] -- zset  '<worker> <lease number> <id>' of each lease
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local limit = ARGV[2] -- at most this many tasks of each kind, 1 to 10,000; see `MAX_PLAN_LEASES`
local wake = ARGV[3] -- how long (ms) a wake of a consumer counts; empty: no consumer is woken
local ahead = ARGV[4] -- '1' to also return when the next task is due or lease expires
-- Returns {'ok', promoted, reclaimed, rejected, expired, 1 if a limit was reached, records left to a
--          later release, 1 if the caller must wake a consumer, with ahead: when the next task is due or
--          lease expires (ms; 0: never, or without ahead), then for each new dead letter, whose last lease
--          expired: id, attempts}

local MAX_BYTES = 8000000
-- How many records one call deletes: more would keep Redis busy for too long.
local MAX_EXPIRED = 500
-- How long (ms) a sweep waits for a consumer that was woken.
local UNHEARD = 1000
local keys = queue_keys(
  pending,
  fair,
  fair_by_group,
  limited,
  working,
  delayed,
  tasks,
  expiry,
  dead,
  workers,
  worker_leases
)
local most = tonumber(limit)
local now = clock(test_now)

-- completed | rejected -> nothing, except a tombstone while the id is unique. Returns how many, true if some
-- are left, and how many a later release wrote.
local function expire()
  local count = math.min(most, MAX_EXPIRED)
  local ids = redis.call('ZRANGE', expiry, '-inf', int(now), 'BYSCORE', 'LIMIT', '0', int(count))
  local expired_ids, removed, left_of, kept = {}, {}, {}, nil
  local bytes, left, last, slice = 0, 0, 0, 16
  -- Redis returns results too: each read has some megabytes at most, and so has the whole call.
  while last < #ids and bytes < MAX_BYTES do
    local names = {}
    for i = last + 1, math.min(last + slice, #ids) do
      names[#names + 1] = '.' .. ids[i]
    end
    for i, record in ipairs(redis.call('HMGET', tasks, unpack(names))) do
      local id, task = ids[last + i], parse(record)
      if newer(record) then
        left = left + 1
      else
        bytes = bytes + #(record or '')
        expired_ids[#expired_ids + 1] = id
        if string.sub(id, 1, 1) == '~' then
          -- A dedup key after its window, the note that tasks were taken from a worker, or a field that was
          -- set aside.
          removed[#removed + 1] = id
        elseif has_ended(task) then
          local unique_until = forget_task(left_of, removed, id, task, now)
          if unique_until then
            if not kept then
              kept = {}
            end
            append(kept, unique_until, id)
          end
        end
      end
    end
    last = last + #names
    slice = math.max(1, math.min(128, math.floor((MAX_BYTES - bytes) / (bytes / last + 1))))
  end
  write('ZREM', expiry, expired_ids)
  write('ZREM', dead, expired_ids)
  write('HDEL', tasks, removed)
  write('HSET', tasks, left_of)
  if kept then
    write('ZADD', expiry, kept)
  end
  return #expired_ids, #expired_ids > 0 and (last < #ids or #expired_ids == count), left
end

-- The counts are set at the end. The dead letters go behind them.
local reply = { 'ok', 0, 0, 0, 0, 0, 0, 0, 0 }
-- This look replaces the reads of the two kinds of which nothing is due.
local looked = ahead == '1' and look_ahead(working, delayed, function()
  return now
end)
local expired, more, old_left = expire()
local reclaimed, rejected, left, unreclaimed = 0, 0, 0, false
if not looked or looked.expired then
  local failed
  reclaimed, rejected, left, failed, unreclaimed = reclaim(keys, now, most, reply)
  if failed then
    return failed
  end
end
local promoted, returned, ended, unfinished = 0, 0, 0, false
if not looked or looked.due then
  promoted, returned, ended, unfinished = promote(keys, now, read_due(keys, now, most), 1, reply)
end
more = more or unfinished or unreclaimed or promoted == most
reclaimed, rejected = reclaimed + returned, rejected + ended

local next_due = looked and looked.next_due or 0
if looked and (looked.due or looked.expired) then
  local deadline = looked.deadline
  if looked.expired then
    deadline = lowest_score(working)
  end
  local _, following = upcoming(delayed, deadline)
  next_due = 0
  if following then
    next_due = following
  end
end

-- True if tasks are ready, and no consumer is awake or has come since the last wake. Records a wake then.
local function wake_needed()
  if wake == '' or redis.call('EXISTS', pending, fair) == 0 then
    return false
  end
  return record_wake(tasks, redis.call('HMGET', tasks, '~wake', '~set'), now, wake, UNHEARD)
end

reply[2], reply[3], reply[4], reply[5] = promoted, reclaimed, rejected, expired
reply[6], reply[7], reply[8] = more and 1 or 0, left + old_left, wake_needed() and 1 or 0
reply[9] = next_due
return reply
