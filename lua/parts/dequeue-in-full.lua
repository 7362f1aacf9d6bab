-- dequeue-in-full: a dequeue that the plain lane does not handle.

-- pending -> working; promotes and reclaims first if too few are pending. (I2 I4 I5 I6 I8)
-- call: the arguments of dequeue by name, and its `slot`. popped, ahead, reads: what was taken off and read
-- already, as in `new_taken`.
-- Returns the reply of dequeue.
local function dequeue_in_full(keys, call, popped, ahead, reads)
  local MOST_IN_FAIR = 200 -- tasks of a call if groups are in use: no command has more than SLICE arguments
  local MOST_GROUPS_READ = 90 -- such a call looks no further after this many groups
  local MOST_SKIPPED = 200 -- a call looks no further after about this many entries that are not deliverable
  local tasks, max, slot, token, worker = keys.tasks, call.max, call.slot, call.token, call.worker
  local plan, taken = new_plan(keys, call.now), new_taken(keys, popped, ahead, reads)
  local batch = new_batch(max, tonumber(call.max_bytes))
  -- counter: the last lease number. used: recent dequeues, if a rate is set. alarm: when to look for silent
  -- workers. wake: the field `~wake`.
  local counter, used, alarm, wake

  -- The time is read once, and only if it is needed.
  local function time()
    plan.now = plan.now or clock(call.test_now)
    return plan.now
  end

  -- Marks the token of a copy that found nothing as used, so that a first copy that arrives late leases
  -- nothing. A full Redis refuses this write. Then such a copy leases tasks, which wait until their leases
  -- expire.
  local function use_up()
    if call.resend == '1' then
      redis.pcall('HSET', tasks, slot, token)
    end
  end

  -- Applies the control fields to this call. Returns the reply if they decide it, and true if a limit did.
  local function check_control(control)
    counter = tonumber(control.lease or 0)
    if not counter then
      error('~lease is not a number')
    end
    local rate = control.rate or ''
    used, alarm = rate, control.alarm
    local _, awake_until = parse_wake(control.wake)
    if awake_until > 0 then
      wake = control.wake
    end
    local is_newer = read_settings(plan, control.set, control.stats)
    local ends = tonumber(plan.settings.paused) or 0
    if ends > 1 and ends <= time() then
      -- Without other settings the queue may be plain again.
      if control.set == '1;p=' .. int(ends) then
        plan_write(plan, 'HDEL tasks', '~set')
      end
      ends = 0
    end
    local paused = ends > 0 and { 'paused', ends }
    if control.slot and string.match(control.slot, '^%S+') == token then
      batch.given = true
      local earlier = still_leased(keys, time(), token, string.sub(control.slot, #token + 1))
      return #earlier == 2 and not is_newer and paused or earlier, false
    elseif is_newer then
      return { 'newer_schema' }, false
    elseif paused then
      use_up()
      return paused, false
    end
    if (plan.settings.max_working or plan.settings.rate) and (#taken > 0 or control.fair) then
      local ask_again_at, jumped
      local leased = plan.settings.max_working and redis.call('ZCARD', keys.working)
      batch.most, ask_again_at, used, jumped = allowed(plan.settings, max, leased, used, time())
      if jumped then
        redis.pcall('HSET', tasks, '~rate', used)
      end
      if batch.most < 1 then
        return { 'ok', ask_again_at }, true
      end
    end
  end

  -- Fills the batch. Returns the reply if it is known already.
  local function fill_batch()
    fetch(taken, max, time)
    local first, last = 1, slice_end(taken, 1)
    local found = read_taken(taken, slot, first, last)
    local control = control_in(found)
    taken.control_read = true
    local reply, full = check_control(control)
    if reply then
      put_back(taken, 1)
      -- Expired leases may fill the limit, and would otherwise wait for the next sweep.
      if full and plan.settings.max_working and not taken.next_due and bring_due(taken, 1, max, time) then
        return fill_batch()
      elseif full then
        use_up()
      end
      return reply
    end
    taken.groups_in_use = plan.events
    if control.fair then
      put_back(taken, 1)
      local times = parse_clock(control.fair)
      if
        not taken.timers_reset
        and times.limited > 0
        and ((times.written_at or 0) > time() or times.reset_from)
      then
        reset_timers(keys, plan.now, times)
        taken.timers_reset, taken.control_read, taken.groups_in_use, taken.next_due = true, nil, nil, nil
        return fill_batch()
      end
      -- The timers of groups at a limit must run even if enough tasks of other groups are ready.
      if not taken.next_due and times.limited > 0 and bring_due(taken, 1, max, time) then
        taken.groups_in_use = nil
        return fill_batch()
      end
      plan.times, plan.fair_changed, taken.times = times, true, times
      taken.groups_in_use, batch.most = true, math.min(batch.most, MOST_IN_FAIR)
      time()
      fetch(taken, batch.most)
      last, found = 128, nil
    elseif batch.most < #taken then
      put_back(taken, batch.most + 1)
    end
    while first <= #taken do
      last = math.min(last, #taken)
      local ended =
        select_tasks(plan, taken, batch, first, last, found or read_taken(taken, slot, first, last))
      if ended then
        return ended ~= true and ended or nil
      end
      first, last, found = last + 1, last + 128, nil
      if #batch >= batch.most then
        put_back(taken, first)
      elseif
        first > #taken
        and not taken.drained
        and #taken - #batch < MOST_SKIPPED
        and plan.groups_read < MOST_GROUPS_READ
      then
        -- Entries that are not deliverable do not block the tasks behind them, within these bounds.
        local looked = taken.next_due
        fetch(taken, math.max(batch.most - #batch, math.min(#taken, 128)), time)
        if worker ~= '' and taken.next_due ~= looked then
          -- What was due may have been the alarm.
          alarm = redis.call('HGET', tasks, '~alarm')
        end
      end
    end
  end

  local fine, answer = pcall(fill_batch)
  if not fine then
    put_back(taken, 1)
    return error_reply_for(answer)
  elseif answer then
    append(answer, taken.dead_letters)
    -- A worker that gets no tasks is alive. One that gets an old answer may have failed since.
    if worker ~= '' and not batch.given and answer[1] ~= 'newer_schema' then
      time()
      note_worker(plan, worker, call.info, alarm)
      return commit(plan) or answer
    end
    return answer
  end

  if #batch > 0 or not taken.drained or worker ~= '' then
    time()
  end
  if worker ~= '' then
    note_worker(plan, worker, call.info, alarm)
  end
  uncount_skipped(taken)
  plan.drained = taken.drained
  move_up_all(plan)
  local holder = worker ~= '' and worker or nil
  local terms =
    { counter = counter, token = token, slot = slot, lease = call.lease, worker = holder, used = used }
  if wake and #batch > 0 then
    plan_write(plan, 'HSET tasks', '~wake', awake_text(plan.now, nil, wake))
  end
  local failed = lease_all(plan, taken, batch, terms) or commit(plan)
  if failed then
    put_back(taken, 1)
    return failed
  end
  write_skipped(batch, tasks)
  if #batch == 0 and (taken.fair_unseen or not (taken.drained and taken.next_due)) then
    local more = { 'more', time() }
    append(more, taken.dead_letters)
    return more
  elseif #batch == 0 then
    use_up()
    -- The consumer that was awake stops here, so the next enqueue must wake another.
    write('HDEL', tasks, { wake and taken.drained and '~wake' or nil })
  end

  local reply = { 'ok', when_again(taken, plan) }
  for _, entry in ipairs(batch) do
    append_task(reply, entry.id, entry.task, entry.deadline, entry.fixed)
  end
  append(reply, taken.dead_letters)
  return reply
end
