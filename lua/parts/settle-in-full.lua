-- settle-in-full: a settle that the plain lane does not handle.

-- How many arguments of settle one settlement has.
local SETTLEMENT = 4

-- Adds the records of the tasks to settle to the fields to read.
-- items: settlements, the first after index `from`.
local function append_settled(names, items, from)
  for place = from + 1, #items, SETTLEMENT do
    names[#names + 1] = '.' .. items[place]
  end
  return names
end

-- working -> completed | rejected | pending | delayed, or stays with a later deadline (extend). Only for the
-- current lease. (I2 I3 I5 I8)
-- call: the caller's token; items: settlements, the first after index `from`; records: the values of `~set`
-- and `~stats`, and the tasks' records. Returns the reply of settle.
local function settle_in_full(keys, now, call, items, from, records)
  local count = (#items - from) / SETTLEMENT

  -- Parses a settlement: id, proof, text, outcome, ms, and true if the attempt does not count.
  local function item(i)
    local id, proof, terms, text = unpack(items, from + (i - 1) * SETTLEMENT + 1, from + i * SETTLEMENT)
    local outcome, ms, uncounted = string.match(terms, '^(%a+) ?(%d*) ?(%a*)$')
    return id, proof, text, outcome, ms, uncounted ~= ''
  end

  local extended = {}
  for i = 1, count do
    local id, _, _, outcome = item(i)
    append(extended, outcome == 'extend' and id or nil)
  end
  local deadlines = {} -- id -> current deadline, of those to extend
  for i, deadline in ipairs(read('ZMSCORE', keys.working, extended)) do
    deadlines[extended[i]] = tonumber(finite(deadline) or 0)
  end
  local plan = new_plan(keys, now)
  if read_settings(plan, records[1], records[2]) then
    return { 'newer_schema' }
  end
  local longer = {} -- id -> later deadline
  local open = {} -- id -> task as this call leaves it, and its text
  local known = {} -- the tasks

  -- One item of the reply.
  local function answer(state, reason, when, flag)
    return state == 'completed' and flag == 0 and state or { state, reason, when, flag }
  end

  -- The state to which an outcome takes a task whose lease is current, with reason and due time (ms; 0:
  -- none).
  local function destination(task, outcome, ms)
    if outcome == 'complete' then
      return 'completed', '', 0
    elseif task.cancel_requested then
      return 'rejected', 'cancelled', 0
    elseif outcome == 'reject' then
      return 'rejected', 'rejected', 0
    elseif outcome == 'unstarted' then
      return 'pending', '', 0
    elseif exhausted(task) then
      return 'rejected', 'attempts_exhausted', 0
    elseif tonumber(ms) > 0 then
      return 'delayed', '', now + tonumber(ms)
    end
    return 'pending', '', 0
  end

  -- Ends a lease by its outcome. Returns the settlement's item of the reply.
  local function settle_one(id, task, old_text, outcome, ms, uncounted, text, settlement)
    if uncounted or outcome == 'unstarted' then
      add(task, 'charged', -1)
    end
    local state, reason, due = destination(task, outcome, ms)
    local flag = task.cancel_requested and 1 or 0
    -- An error has its short form in front if that is shorter.
    local first, rest = string.match(text, '^s([^\n]*)\n(.*)$')
    local short, full = first or text, rest or text
    if text ~= '' and outcome ~= 'complete' then
      note_error(task, now, short)
    end
    text = (text ~= '' or outcome == 'complete') and full or old_text
    -- A resend of this settlement gets this answer.
    task.last_settlement = table.concat({ settlement, state, reason, int(due), int(flag) }, ',')
    end_lease(plan, id, task)
    if outcome ~= 'unstarted' and reason ~= 'cancelled' then
      note_number(plan, 'd', now - tonumber(task.dequeued_at))
    end
    longer[id] = nil
    if state == 'completed' or state == 'rejected' then
      end_task(plan, id, task, text, state, reason, outcome ~= 'requeue' and ms ~= '' and ms or nil)
      if reason ~= 'cancelled' then
        note_detail(plan, state, task, 0, reason, short)
      end
    else
      if outcome == 'requeue' then
        -- Its consumer is alive, so the task may travel in a full batch again.
        task.requeued_at, task.expired_leases = int(now), nil
        add(task, 'requeues', 1)
        note_event(plan, 'requeued', id)
        note_detail(plan, 'requeued', task, due, '', short)
      end
      local place = outcome == 'unstarted' and 'unstarted' or 'back'
      wait_again(plan, id, task, text, place, due > 0 and due or nil)
    end
    return answer(state, reason, due, flag)
  end

  -- Records that this call sets progress. Returns false if it is a late copy, and a later call has set newer
  -- progress.
  local function note_progress_call(task)
    local MARKS = 8 -- a record remembers this many of the last calls that set progress
    local mark, marks = ',' .. string.sub(call, 1, 8), task.progress_calls or ''
    local known_call = call ~= '' and string.find(marks, mark, 1, true)
    if call ~= '' and not known_call then
      task.progress_calls = string.sub(marks .. mark, -MARKS * #mark)
    end
    return not known_call or string.sub(marks, -#mark) == mark
  end

  -- The later of the current deadline and now + lease.
  local function extend(id, task, old_text, ms, progress)
    local deadline = now + tonumber(ms ~= '' and ms or task.leased_for ~= '' and task.leased_for or 0)
    longer[id] = math.max(longer[id] or deadlines[id], deadline)
    if progress ~= '' and note_progress_call(task) then
      task.progress = progress
      if plan.settings.events then
        note_event(plan, 'progress', id)
        note_detail(plan, 'progress', task, 0, '', progress)
      end
      plan_write(plan, 'HSET tasks', '.' .. id, format(task, old_text))
    end
    return { 'working', '', longer[id], task.cancel_requested and 1 or 0 }
  end

  -- The answer that an earlier copy of this settlement got.
  local function earlier_settlement(task, settlement)
    local prefix = settlement .. ','
    if task.last_settlement and string.sub(task.last_settlement, 1, #prefix) == prefix then
      local state, reason, due, flag =
        string.match(string.sub(task.last_settlement, #prefix + 1), '^(%a*),([%a_]*),(%d*),(%d)$')
      return answer(state, reason, tonumber(due), tonumber(flag))
    end
    return { 'lost', '', 0, 0 }
  end

  for i = 1, count do
    local id = item(i)
    if not open[id] then
      local task, text = parse(records[i + 2])
      open[id] = { task = task, text = text }
      append(known, task.state == STATE.working and task or nil)
    end
  end
  open_groups(plan, known)

  local reply, unstarted = { 'ok' }, {}

  -- Puts the tasks that were handed back unstarted at the front. All at once: so the first one is foremost.
  local function put_in_front()
    write('RPUSH', keys.pending, reversed(unstarted, 1))
  end

  for i = 1, count do
    local id, proof, text, outcome, ms, uncounted = item(i)
    local task = open[id].task
    local settlement = proof .. ',' .. outcome
    if newer(records[i + 2]) then
      reply[i + 1] = { 'newer', '', 0, 0 }
    elseif task.state ~= STATE.working or task.lease_number .. ',' .. task.lease_token ~= proof then
      reply[i + 1] = earlier_settlement(task, settlement)
    elseif outcome == 'extend' then
      reply[i + 1] = extend(id, task, open[id].text, ms, text)
    else
      reply[i + 1] = settle_one(id, task, open[id].text, outcome, ms, uncounted, text, settlement)
    end
    if
      planned_count(plan, 'ZREM working') == MAX_PLAN_LEASES
      or planned_count(plan, 'HSET tasks') >= 4 * MAX_PLAN_LEASES
      or i == count
    then
      admit_limited(plan)
      local handed_back = planned_writes(plan, 'RPUSH pending')
      plan.writes['RPUSH pending'] = nil
      local failed = commit(plan)
      if failed then
        put_in_front()
        return failed
      end
      for k = 1, #handed_back do
        unstarted[#unstarted + 1] = handed_back[k]
      end
      clear_plan(plan)
    end
  end
  put_in_front()
  put_deadlines(keys, longer)
  return reply
end
