-- delete-queue: deletes a queue, or a partition, with all its data. It is refused while tasks are working,
-- or tasks of flows have not ended, unless forced. (I3)
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
local schedules = KEYS[12] -- zset  schedule -> its next occurrence (ms)
local timetable = KEYS[13] -- hash  records of schedules, and their recurring tasks
local operator_calls = KEYS[14] -- string  the last calls of operators: it stays until it expires
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local token = ARGV[2] -- the caller's token, a new one for each call
local force = ARGV[3] -- '1' to delete even then
-- Returns {'ok', when (ms)} | {'working', how many are working, how many nodes of flows have not ended, or
--          have not notified all that waits for them} | {'newer_schema'}

-- How many flows one call leaves to a sweep. The deep sweep finds the others.
local MOST_FLOWS = 100

-- What a forced deletion leaves in the outbox, as ../flows.md says: pairs of a score and a member.
local function lost_flows()
  local left, flows_here, fields = {}, {}, {}
  local gate = BLOCKED.gate
  for _, id in ipairs(redis.call('ZRANGE', delayed, gate, gate, 'BYSCORE', 'LIMIT', '0', '1000')) do
    if string.find(id, '^flow{') and #flows_here < MOST_FLOWS then
      flows_here[#flows_here + 1] = id
      append(fields, id, '~F:' .. string.sub(id, 6, -2))
    end
  end
  local found = read('HMGET', tasks, fields)
  for i, id in ipairs(flows_here) do
    local record, names = found[2 * i - 1] or '', found[2 * i]
    if names then
      -- The flow has its home here: only its layout says which other partitions have nodes.
      local first = redis.call('HGET', tasks, fields[2 * i] .. ' ' .. string.match(names, '^[^,]*')) or ''
      for name in string.gmatch(string.match(first, '"shards":%[([^%]]*)') or '', '"([^"]+)"') do
        append(left, BLOCKED.task, '~x:' .. id .. ' !h ' .. name)
      end
    else
      local home = string.match(first_line(record), ';H=([^;\n]*)')
      if home then
        append(left, BLOCKED.task, '~x:' .. id .. ' !l ' .. home)
      end
    end
  end
  -- What an earlier deletion has left, and cancels of flows.
  local outbox = BLOCKED.task
  for _, member in ipairs(redis.call('ZRANGE', expiry, outbox, outbox, 'BYSCORE', 'LIMIT', '0', '1000')) do
    if string.find(member, ' !', 1, true) then
      append(left, outbox, member)
    end
  end
  return left
end

local done, notes = earlier_answer(operator_calls, token)
if not done then
  local plan = new_plan({ tasks = tasks }, clock(test_now))
  local found = redis.call('HMGET', tasks, '~set', '~slots', '~nodes')
  if read_settings(plan, found[1]) then
    return { 'newer_schema' }
  end
  local count, nodes, left = 0, tonumber(found[3] or 0), {}
  if force ~= '1' then
    count = redis.call('ZCARD', working)
    if nodes == 0 and found[3] then
      nodes = redis.call('ZCOUNT', expiry, BLOCKED.task, '+inf')
    end
  elseif found[3] then
    left = lost_flows()
    nodes = 0
  end
  if count + nodes == 0 then
    local parts =
      { pending, fair, fair_by_group, limited, working, delayed, tasks, expiry, dead, workers, worker_leases }
    append(parts, schedules, timetable)
    redis.call('UNLINK', unpack(parts))
    if found[2] then
      -- A partition does not forget which slots it owns.
      redis.call('HSET', tasks, '~slots', found[2])
    end
    if left[1] then
      write('ZADD', expiry, left)
      -- So that the next deletion looks into the outbox.
      redis.call('HSET', tasks, '~nodes', '0')
    end
    -- Only partition 0 says so, once for all of them.
    if plan.settings.events and not string.find(tasks, '/%d+}:tasks$') then
      local channel = string.gsub(string.gsub(tasks, 'tasks$', 'events'), '}/0:events$', '}:events')
      redis.call('PUBLISH', channel, 'deleted ' .. int(plan.now) .. ' *')
    end
  end
  if count + nodes > 0 then
    done = 'working,' .. int(count) .. ',' .. int(nodes)
  else
    done = 'ok,' .. int(plan.now)
  end
  note_call(operator_calls, notes, token, done)
end
local status, number, nodes = string.match(done, '^(%a+),(%d+),?(%d*)$')
local answer = { status, tonumber(number) }
if status == 'working' then
  answer[3] = tonumber(nodes) or 0
end
return answer
