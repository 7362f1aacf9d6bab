-- repair: how the deep sweep repairs an id. The records decide where it belongs; it is removed from all other
-- places. A failover may set single keys back in time. The rules:
-- The state in the record decides, not the place.
-- A waiting task belongs where it is delivered first: `fair`, `limited`, or the list, in this order; in
-- `delayed` while it is not due, or if it is in no other place, or if it is blocked.
-- A task in state working without its lease is taken back, as if its lease had expired.
-- An id without a payload is removed.
-- An ended task stays known until its time in `expiry`. It is in no other place, except in `dead`.
-- An unreadable record is set aside in `~b:<field>`. What a later release wrote is left alone.
-- Only the whole list shows whether it lacks a task or has it twice: `place-lost` and `blank-duplicates`
-- repair that, not this file.

-- Bounds (ms): no instant is later, and no lease or ttl is longer.
local LAST = 8640000000000000

local LONGEST = 630720000000

-- The ids of nodes of flows.
local NODE = '^%w+{.+@.+}$'

-- The bound of virtual times: half the range of a priority, which no deliveries reach.
local LATEST_TAG = BAND / 2

-- True for a state that this release knows.
local function known_state(task)
  local state = task.state
  return state == STATE.waiting or state == STATE.working or state == STATE.ghost or has_ended(task)
end

-- Interprets the records of an entry: sets `fixed` and `record` if they are readable, `task`, and `live` if
-- there is a payload.
local function interpret(repair, entry)
  local id, seen = entry.id, parse(entry.record)
  local named = id == BLANK or (#id <= 128 and string.find(id, '^[A-Za-z0-9][!-~]*$') ~= nil)
  local readable = named and known_state(seen) and #seen.version <= 15 and #seen.lease_number <= 15
  entry.live = named and has_payload(entry.fixed)
  entry.had_fixed, entry.had_record = entry.fixed, entry.record
  if entry.record and not readable then
    set_aside(repair, '.' .. id)
    entry.record = false
  end
  if entry.fixed and not entry.live and (entry.fixed ~= '' or not named) then
    set_aside(repair, id)
    entry.fixed = false
  end
  entry.task = parse_with(entry.live and entry.fixed or '', entry.record)
  entry.ghosts = tonumber(entry.task.ghosts or 0)
  -- A join or gate is nothing without its edges: the repair of its flow adds it again.
  entry.live = entry.live and not (entry.task.node_kind and not entry.record)
end

-- Whether an entry is a node of a flow that has not ended.
local function is_open_node(entry)
  return entry.live and entry.task.flow and not has_ended(entry.task) and entry.task.state ~= STATE.ghost
end

-- The zset to which a waiting task belongs; nothing: the list.
local function zset_of_waiting(repair, entry)
  local plan, task, due = repair.plan, entry.task, tonumber(entry.delayed)
  local band, place = tonumber(task.priority or 0), tonumber(entry.limited)
  local own_band, tag = read_score(tonumber(entry.fair or 0))
  local number = place and grouped(task) and tonumber(plan.groups[task.group or ''].settings.number)
  if task.edges then
    return 'delayed'
  elseif due and due >= repair.now + 1 then
    return 'delayed'
  elseif entry.fair and grouped(task) and own_band == band and tag < LATEST_TAG then
    return 'fair'
  elseif number and math.floor(place / LIMITED_BAND) == number * LIMITED_GROUP / LIMITED_BAND + 9 - band then
    return 'limited'
  elseif due and not (entry.listed and entry.ghosts == 0) then
    return 'delayed'
  end
end

local function repair_waiting(repair, entry)
  local id, task, plan = entry.id, entry.task, repair.plan
  if task.flow and not entry.record then
    if tonumber(entry.delayed or 0) >= tonumber(BLOCKED.task) then
      -- Only its flow knows its edges: the repair of that blocks it again.
      keep_in(repair, entry, 'delayed')
      return
    end
    entry.record = rewritten(repair, entry)
    report_fault(repair, 'record_incomplete', id)
  end
  local home = zset_of_waiting(repair, entry)
  if keep_in(repair, entry, home) then
    report_fault(repair, (home or entry.listed) and 'two_places' or 'wrong_place', id)
  end
  entry.waits = home and 0 or 1
  if home == 'fair' then
    append(repair.turns, id, turn_of(task.group or '', entry.fair, id))
  elseif home == 'delayed' then
    local due = tonumber(entry.delayed or -1)
    -- A task of a flow that was released is not blocked.
    local latest = task.flow and BLOCKED.task - 1 or LAST
    local whole = due >= 0 and due <= latest and math.floor(due) or repair.now
    local score = task.edges and BLOCKED.score(task) or score_when_due(task, whole)
    if due ~= tonumber(score) then
      plan_write(plan, 'ZADD delayed', score, id)
      report_fault(repair, entry.delayed and 'time_broken' or 'place_missing', id)
    end
    -- A promotion to `fair` reads the changing record.
    if grouped(task) and not string.find(entry.record or '', '^[12];%d+;%d') then
      entry.record = rewritten(repair, entry)
      report_fault(repair, 'record_incomplete', id)
    end
  end
end

local function repair_working(repair, entry)
  local id, task = entry.id, entry.task
  if not entry.working or task.lease_token == '' or task.leased_for == '' or task.lease_number == '0' then
    keep_in(repair, entry)
    repair.lost[#repair.lost + 1] = id
    report_fault(repair, 'lease_missing', id)
    return
  end
  if keep_in(repair, entry, 'working') then
    report_fault(repair, 'two_places', id)
  end
  local deadline = tonumber(entry.working)
  if deadline < 0 or deadline > repair.now + LONGEST then
    append(repair.deadlines, int(repair.now), id)
    report_fault(repair, 'time_broken', id)
  end
  if task.worker then
    append(repair.worker_leases, id, worker_lease(task.worker, task.lease_number, id))
  end
  if tonumber(task.lease_number) > (repair.lease or 0) then
    -- More than any counter can have reached, so that no number is given out twice.
    repair.lease = math.max(repair.now, tonumber(task.lease_number))
    plan_write(repair.plan, 'HSET tasks', '~lease', int(repair.lease))
    report_fault(repair, 'control_broken', '~lease')
  end
end

local function repair_ended(repair, entry)
  local id, task, plan = entry.id, entry.task, repair.plan
  local dead_letter = entry.live and task.state == STATE.rejected and task.reason ~= 'cancelled'
  local ttl = tonumber(
    task.state == STATE.completed and (task.result_ttl or DEFAULT_RESULT_TTL)
      or task.dead_ttl
      or DEFAULT_DEAD_TTL
  )
  local over = tonumber(entry.expiry)
  if keep_in(repair, entry, 'expiry', dead_letter and 'dead') then
    report_fault(repair, 'wrong_place', id)
  end
  if dead_letter and not entry.dead then
    plan_write(plan, 'ZADD dead', task.ended_at or int(repair.now), id)
    report_fault(repair, 'place_missing', id)
  end
  if not over and task.flow then
    -- The end of the flow gives it another time.
    over = repair.now + UNTIL_THE_END
    plan_write(plan, 'ZADD expiry', int(over), id)
    report_fault(repair, 'expiry_missing', id)
  elseif not over or over > repair.now + LONGEST then
    local kept = (dead_letter or task.state == STATE.completed) and ttl or 0
    over = math.max((tonumber(task.ended_at) or repair.now) + kept, repair.now + RESEND_WINDOW)
    plan_write(plan, 'ZADD expiry', int(over), id)
    report_fault(repair, entry.expiry and 'time_broken' or 'expiry_missing', id)
  end
  if not dead_letter and entry.fixed ~= '' then
    entry.fixed = ''
    report_fault(repair, 'record_incomplete', id)
  end
  if not entry.record then
    -- The id is known, and nothing else.
    entry.record = bare_record(STATE.deleted)
    report_fault(repair, 'record_incomplete', id)
  end
end

-- An id without a payload, or one that had ended and was forgotten: only its ghosts stay.
local function repair_lost(repair, entry)
  local id, task = entry.id, entry.task
  local known = task.state ~= STATE.ghost and (entry.had_fixed or entry.had_record)
  if keep_in(repair, entry) or known then
    report_fault(repair, 'payload_missing', id)
  elseif entry.live then
    report_fault(repair, 'record_incomplete', id)
  end
  if known and string.find(id, NODE) then
    plan_write(repair.plan, 'HDEL tasks', '~p:' .. id)
  end
  local ghosts = entry.ghosts > 0
  entry.fixed = ghosts and id ~= BLANK and '' or false
  entry.record = ghosts
    and (task.state == STATE.ghost and entry.record or bare_record(STATE.ghost, task.ghosts, task.version))
end

-- Adds the repair of an entry to a plan. Sets `expected`, how many entries of the list it should have;
-- `waits`, 1 if one of them is to be delivered; and `witness`, which changes whenever these may change.
local function repair_entry(repair, entry)
  local task = entry.task
  entry.waits = 0
  -- How a task of a flow has ended is not known without its record: it is lost.
  local is_known = entry.record or not string.find(entry.id, NODE)
  if has_ended(task) or (entry.fixed == '' and not entry.record and is_known) then
    repair_ended(repair, entry)
  elseif not entry.live or task.state == STATE.ghost then
    repair_lost(repair, entry)
  elseif task.state == STATE.working then
    repair_working(repair, entry)
  else
    repair_waiting(repair, entry)
  end
  entry.expected = entry.ghosts + entry.waits
  -- A promotion changes where the task waits, but not its version.
  entry.witness = table.concat({ task.version, task.enqueued_at, task.ghosts or '', int(entry.waits) }, ';')
end

-- Repairs entries, as many at a time as a plan may have. Returns the error if Redis has no room. then_do:
-- called for each entry after its repair is decided.
local function repair_entries(repair, entries, then_do)
  local tasks = {}
  for _, entry in ipairs(entries) do
    if not entry.newer then
      interpret(repair, entry)
      append(tasks, (entry.limited or then_do) and entry.live and entry.task or nil)
    end
  end
  open_groups(repair.plan, tasks)
  for _, entry in ipairs(entries) do
    if entry.newer then
      report_fault(repair, 'record_newer', entry.id)
    else
      repair_entry(repair, entry)
      if then_do then
        then_do(entry)
      end
      put_field(repair, entry.id, entry.had_fixed, entry.fixed)
      put_field(repair, '.' .. entry.id, entry.had_record, entry.record)
    end
    local failed = planned_count(repair.plan, 'HSET tasks') >= 2 * MAX_PLAN_LEASES and write_repairs(repair)
    if failed then
      return failed
    end
  end
  local failed, _ = write_repairs(repair), nil
  if not failed then
    -- Last, as it may change groups that this plan has read.
    _, _, _, failed = revoke(repair.keys, repair.lost, repair.now, function(task)
      return task.state == STATE.working
    end, repair.dead_letters)
  end
  return failed
end
