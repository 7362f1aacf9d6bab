-- dequeue: pending -> working; promotes and reclaims first where too few are pending. (I2 I4 I5 I6 I8)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local fair = KEYS[2] -- zset  id -> tag, of tasks of a group or with a priority
local order = KEYS[3] -- zset  group, score and id of what is in fair, by name
local held = KEYS[4] -- zset  id -> place behind its group's limit
local working = KEYS[5] -- zset  id -> lease deadline (ms)
local delayed = KEYS[6] -- zset  id -> due (ms)
local tasks = KEYS[7] -- hash  records and control fields
local expiry = KEYS[8] -- zset  id -> when its record goes away (ms)
local dead = KEYS[9] -- zset  id -> when it was rejected (ms)
local workers = KEYS[10] -- zset  worker -> when it is silent (ms)
local hands = KEYS[11] -- zset  worker, lease number and id, by name
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local max_tasks = ARGV[2] -- at most this many tasks, 1 to 1,000
local lease = ARGV[3] -- lease (ms) of tasks that fixed none
local token = ARGV[4] -- the caller's lease token, one a call
local resend = ARGV[5] -- '1' if an earlier copy of this call may have been sent, or after 'more'
local max_bytes = ARGV[6] -- bound on the bytes of the records in the reply
local worker = ARGV[7] -- '<name> <incarnation>'; empty for none
local info = ARGV[8] -- of the worker: '<silent after, ms>;<node>;<pid>'
-- Returns {'ok', when more will be ready (ms; 0: nothing known), then for each task:
--          id, attempt, lease number, deadline (ms), fixed record}
--      or {'more', now (ms)}: nothing to deliver so far; the same call, with resend '1', goes on from there
--      or {'paused'} | {'newer_schema'}

-- How many tasks one call takes where groups are in use: no command then has more than SLICE arguments.
local SHARED = 200
-- After how many groups such a call looks no further.
local GROUPS = 90
-- After about so many entries that are not to be delivered a call looks no further.
local PASSED = 200
local at = queue_at(pending, fair, order, held, working, delayed, tasks, expiry, dead, workers, hands)
local max = tonumber(max_tasks)
local slot = slot_of(token, max)
local plan, line, batch = new_plan(at), new_line(at), new_batch(max, tonumber(max_bytes))
-- The last lease number; dequeues of late, where a rate is set; when to look after workers; who is awake.
local counter, used, alarm, wake

-- Read once, and only where something is there.
local function time()
  plan.now = plan.now or clock(test_now)
  return plan.now
end

-- So that, after a copy that was given nothing, a first copy that arrives late leases nothing. Redis at its
-- limit refuses this one write; such a copy then costs a lease that nobody holds.
local function spend_token()
  if resend == '1' then
    redis.pcall('HSET', tasks, slot, token)
  end
end

-- What the control fields say of this call. Returns the reply where that settles it; true where a limit does.
local function heed_control(found)
  counter = tonumber(found[1] or 0) or error('~lease is not a number')
  used, alarm, wake = found[6] or '', found[7], found[8]
  if found[2] and string.match(found[2], '^%S+') == token then
    batch.given = true
    local again = lease_again(at, time(), token, string.sub(found[2], #token + 1))
    local paused = #again == 2 and not newer(found[3]) and parse_settings(found[3] or nil).p
    return paused and { 'paused' } or again, false
  elseif heed(plan, found[3], found[4]) then
    return { 'newer_schema' }, false
  elseif plan.settings.p then
    spend_token()
    return { 'paused' }, false
  end
  if (plan.settings.m or plan.settings.r) and (#line > 0 or found[5]) then
    local again, jumped
    local leased = plan.settings.m and redis.call('ZCARD', working)
    batch.most, again, used, jumped = allowed(plan.settings, max, leased, used, time())
    if jumped then
      redis.pcall('HSET', tasks, '~rate', used)
    end
    if batch.most < 1 then
      return { 'ok', again }, true
    end
  end
end

-- Fills the batch. Returns the reply where that is settled already.
local function choose()
  fetch(line, max, time)
  -- In slices, so that large payloads cannot fill the script's memory.
  local first, last = 1, math.min(32, #line)
  local found = look_at(line, slot, first, last)
  line.looked = true
  local reply, full = heed_control(found)
  if reply then
    put_back(line, 1)
    -- Expired leases may be what fills the limit: they would wait for the next sweep.
    if full and plan.settings.m and not line.next_due and bring_due(line, 1, max, time) then
      return choose()
    elseif full then
      spend_token()
    end
    return reply
  end
  line.busy = plan.news
  if found[5] then
    put_back(line, 1)
    local times = parse_clock(found[5])
    if not line.reset and times.h > 0 and ((times.t or 0) > time() or times.c) then
      reset_timers(at, plan.now, times)
      line.reset, line.looked, line.busy, line.next_due = true, nil, nil, nil
      return choose()
    end
    -- Where a group is at a limit, a timer lets it go on, however much else is in line.
    if not line.next_due and times.h > 0 and bring_due(line, 1, max, time) then
      line.busy = nil
      return choose()
    end
    plan.times, plan.shared, line.times = times, true, times
    line.busy, batch.most = true, math.min(batch.most, SHARED)
    time()
    fetch(line, batch.most)
    last, found = 128, nil
  elseif batch.most < #line then
    put_back(line, batch.most + 1)
  end
  while first <= #line do
    last = math.min(last, #line)
    local ended = go_through(plan, line, batch, first, last, found or look_at(line, slot, first, last))
    if ended then
      return ended ~= true and ended or nil
    end
    first, last, found = last + 1, last + 128, nil
    if #batch >= batch.most then
      put_back(line, first)
    elseif first > #line and not line.drained and #line - #batch < PASSED and plan.opened < GROUPS then
      -- Strays do not stand in the way of tasks behind them, within bounds. Where some are, more are.
      local looked = line.next_due
      fetch(line, math.max(batch.most - #batch, math.min(#line, 128)), time)
      if worker ~= '' and line.next_due ~= looked then
        -- What was due may have been the alarm.
        alarm = redis.call('HGET', tasks, '~alarm')
      end
    end
  end
end

local fine, answer = pcall(choose)
if not fine then
  put_back(line, 1)
  return redis.error_reply(type(answer) == 'table' and answer.err or 'ERR ' .. answer)
elseif answer then
  -- One who gets nothing lives all the same; one who gets an old answer may have failed since.
  if worker ~= '' and not batch.given and answer[1] ~= 'newer_schema' then
    time()
    note_worker(plan, worker, info, alarm)
    return commit(plan) or answer
  end
  return answer
end

if #batch > 0 or not line.drained or worker ~= '' then
  time()
end
if worker ~= '' then
  note_worker(plan, worker, info, alarm)
end
pay_back(line)
plan.dry = line.drained
straighten(plan)
local holder = worker ~= '' and worker or nil
local call = { counter = counter, token = token, slot = slot, lease = lease, worker = holder, used = used }
if wake and #batch > 0 then
  append(plan.fields, '~wake', awake_from(plan.now, nil, wake))
end
local failed = lease_all(plan, line, batch, call) or commit(plan)
if failed then
  put_back(line, 1)
  return failed
end
write_strays(batch, tasks)
if #batch == 0 and (line.unseen or not (line.drained and line.next_due)) then
  return { 'more', time() }
elseif #batch == 0 then
  spend_token()
  -- Whoever was awake finds nothing and goes: what comes now has to wake another.
  write('HDEL', tasks, { wake and line.drained and '~wake' or nil })
end

local reply = { 'ok', when_again(line, plan) }
for _, entry in ipairs(batch) do
  give(reply, entry.id, entry.task, entry.deadline, entry.fixed)
end
return reply
