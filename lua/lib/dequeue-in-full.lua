-- dequeue-in-full: a dequeue that is not plain.

-- pending -> working; promotes and reclaims first where too few are pending. (I2 I4 I5 I6 I8)
-- call: what dequeue was told, by name, and its `slot`; then what was taken and read already, as `new_line`
-- has it.
-- Returns the reply of dequeue.
local function dequeue_in_full(at, call, popped, ahead, reads)
  local MOST_IN_FAIR = 200 -- tasks of a call if groups are in use: no command has more than SLICE arguments
  local MOST_GROUPS_READ = 90 -- such a call looks no further after this many groups
  local MOST_SKIPPED = 200 -- a call looks no further after about this many entries that are not deliverable
  local tasks, max, slot, token, worker = at.tasks, call.max, call.slot, call.token, call.worker
  local plan, line = new_plan(at, call.now), new_line(at, popped, ahead, reads)
  local batch = new_batch(max, tonumber(call.max_bytes))
  -- The last lease number; dequeues of late, where a rate is set; when to look after workers; who is awake.
  local counter, used, alarm, wake

  -- Read once, and only where something is there.
  local function time()
    plan.now = plan.now or clock(call.test_now)
    return plan.now
  end

  local function spend()
    if call.resend == '1' then
      spend_token(tasks, slot, token)
    end
  end

  -- What the control fields say of this call. Returns the reply where that settles it; true where a limit
  -- does.
  local function heed_control(control)
    counter = tonumber(control.lease or 0) or error('~lease is not a number')
    used, alarm, wake = control.rate or '', control.alarm, control.wake
    if control.slot and string.match(control.slot, '^%S+') == token then
      batch.given = true
      local again = lease_again(at, time(), token, string.sub(control.slot, #token + 1))
      local paused = #again == 2 and not newer(control.set) and parse_settings(control.set or nil).paused
      return paused and { 'paused' } or again, false
    elseif heed(plan, control.set, control.stats) then
      return { 'newer_schema' }, false
    elseif plan.settings.paused then
      spend()
      return { 'paused' }, false
    end
    if (plan.settings.max_working or plan.settings.rate) and (#line > 0 or control.fair) then
      local again, jumped
      local leased = plan.settings.max_working and redis.call('ZCARD', at.working)
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
    local first, last = 1, slice_end(line, 1)
    local found = look_at(line, slot, first, last)
    local control = control_in(found)
    line.looked = true
    local reply, full = heed_control(control)
    if reply then
      put_back(line, 1)
      -- Expired leases may be what fills the limit: they would wait for the next sweep.
      if full and plan.settings.max_working and not line.next_due and bring_due(line, 1, max, time) then
        return choose()
      elseif full then
        spend()
      end
      return reply
    end
    line.busy = plan.news
    if control.fair then
      put_back(line, 1)
      local times = parse_clock(control.fair)
      if not line.reset and times.limited > 0 and ((times.written_at or 0) > time() or times.reset_from) then
        reset_timers(at, plan.now, times)
        line.reset, line.looked, line.busy, line.next_due = true, nil, nil, nil
        return choose()
      end
      -- Where a group is at a limit, a timer lets it go on, however much else is in line.
      if not line.next_due and times.limited > 0 and bring_due(line, 1, max, time) then
        line.busy = nil
        return choose()
      end
      plan.times, plan.shared, line.times = times, true, times
      line.busy, batch.most = true, math.min(batch.most, MOST_IN_FAIR)
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
      elseif
        first > #line
        and not line.drained
        and #line - #batch < MOST_SKIPPED
        and plan.opened < MOST_GROUPS_READ
      then
        -- Entries that are not deliverable do not block the tasks behind them, within these bounds.
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
    return raised(answer)
  elseif answer then
    -- One who gets nothing lives all the same; one who gets an old answer may have failed since.
    if worker ~= '' and not batch.given and answer[1] ~= 'newer_schema' then
      time()
      note_worker(plan, worker, call.info, alarm)
      return commit(plan) or answer
    end
    return answer
  end

  if #batch > 0 or not line.drained or worker ~= '' then
    time()
  end
  if worker ~= '' then
    note_worker(plan, worker, call.info, alarm)
  end
  pay_back(line)
  plan.dry = line.drained
  straighten(plan)
  local holder = worker ~= '' and worker or nil
  local terms =
    { counter = counter, token = token, slot = slot, lease = call.lease, worker = holder, used = used }
  if wake and #batch > 0 then
    will(plan, 'HSET tasks', '~wake', awake_from(plan.now, nil, wake))
  end
  local failed = lease_all(plan, line, batch, terms) or commit(plan)
  if failed then
    put_back(line, 1)
    return failed
  end
  write_strays(batch, tasks)
  if #batch == 0 and (line.unseen or not (line.drained and line.next_due)) then
    return { 'more', time() }
  elseif #batch == 0 then
    spend()
    -- The consumer that was awake stops here, so the next enqueue has to wake another.
    write('HDEL', tasks, { wake and line.drained and '~wake' or nil })
  end

  local reply = { 'ok', when_again(line, plan) }
  for _, entry in ipairs(batch) do
    give(reply, entry.id, entry.task, entry.deadline, entry.fixed)
  end
  return reply
end
