-- flows: when a task of a flow ends, this notifies the nodes that wait for it. Each of them has the state of
-- all of its edges, so that a second notice changes nothing.

-- Where blocked nodes are.
local BLOCKED = (function()
  -- When a blocked task is due: as late as any task may be. Members of `expiry` with this score are the
  -- outbox.
  local task_due = '4503599627370495'

  -- The score of joins and gates that wait. It is behind that of tasks, so that these can be counted.
  local gate_due = '4503599627370496'

  -- The score in `delayed` of a node that is blocked.
  local function score(task)
    return task.node_kind and gate_due or score_when_due(task, task_due)
  end

  return { task = task_due, gate = gate_due, score = score }
end)()

-- How long (ms) records of a flow are kept that has not ended: ten years.
local UNTIL_THE_END = 315360000000

-- The bounds of the scores in `delayed` of tasks in a state, `delayed` or `blocked`: the lowest of them, if
-- any, and the next higher one.
local function blocked_bounds(state)
  if state == 'blocked' then
    return BLOCKED.task, BLOCKED.gate
  end
  return nil, BLOCKED.task
end

-- Blocked tasks are never due.
upcoming = (function(inner)
  return function(delayed, deadline)
    local due, wake = inner(delayed, deadline)
    local never = tonumber(BLOCKED.task)
    return (due or never) < never and due or nil, (wake or never) < never and wake or deadline
  end
end)(upcoming)

-- nodes: how many nodes of flows have not ended, `~nodes`.
count_blocked = (function()
  return function(delayed, nodes)
    if tonumber(nodes or 0) == 0 then
      return 0, 0
    end
    return redis.call('ZCOUNT', delayed, BLOCKED.task, '(' .. BLOCKED.gate),
      redis.call('ZCOUNT', delayed, BLOCKED.task, '+inf')
  end
end)(count_blocked)

local flows = (function()
  -- How many nodes one call notifies. It leaves the others to later calls, as those of other partitions.
  local MOST_NOTIFIED = 200

  -- The id of a node of a flow. number: `flow` for the flow as a whole.
  local function node_id(flow, number)
    return number .. '{' .. flow .. '}'
  end

  -- The followers of a node in its own partition, as pairs of a number and an edge; and those in others, as
  -- text. A flow as a whole has no followers: `-` is what remains to be done when it has ended.
  local function own_followers(task)
    local own, others = string.match(task.followers or ' -', '^([^ ]*)(.*)$')
    local found = {}
    for number, edge in string.gmatch(own, '(%w+)%.(%d+)') do
      append(found, number, tonumber(edge))
    end
    return found, others
  end

  -- How a node has ended, for those that wait for it. One that was not needed counts as completed.
  local function outcome_of(task)
    local is_unneeded = task.reason == 'cancelled' and string.find(task.edges or '', 'm', 1, true)
    local has_completed = task.state == STATE.completed or (task.state == STATE.deleted and not task.reason)
    return (has_completed or is_unneeded) and 'completed' or 'failed'
  end

  -- Notes that a node has ended, or that one which had ended is alive again.
  -- outcome: 'completed', 'failed' or 'open'.
  local function note_outcome(plan, id, task, outcome)
    if task.flow then
      plan.outcomes = plan.outcomes or {}
      append(plan.outcomes, { id = id, task = task, outcome = outcome })
      -- So that it is not read again if it is a follower too.
      plan.nodes = plan.nodes or {}
      plan.nodes[id] = plan.nodes[id] or { id = id, task = task, text = '', found = true }
      -- How many nodes of flows have not ended here: while there are any, a sweep looks into the outbox.
      plan.more_nodes = (plan.more_nodes or 0) + (outcome == 'open' and 1 or -1)
    end
  end

  -- Whom this call leaves to be notified, as `read-outbox` returns it. Members of `expiry` keep it until
  -- that is done.
  local outbox = {}

  -- What an edge becomes. `c` is open and needs a completion, `e` is open and needs an end, `r` is open and
  -- needs a failure; then `.` completed, `f` failed, which lets the node fall; `+` completed, `x` failed; `m`
  -- completed, so that the node is not needed, `s` failed. What has completed stays so.
  local AFTER = {
    completed = { c = '.', f = '.', e = '+', x = '+', r = 'm', s = 'm' },
    failed = { c = 'f', e = 'x', r = 's' },
    open = { f = 'c', x = 'e', s = 'r' },
  }

  -- The records of flows as a whole that a settle has read with those of its tasks, by field.
  local read_before = {}

  -- The fields of flows as a whole, and `~nodes`, that a settle of tasks of flows needs.
  local function fields_with(items, from)
    local names, known = {}, {}
    for place = from + 1, #items, SETTLEMENT do
      local flow = string.match(items[place], '^%w+{([^}]*@.*)}$')
      if flow and not known[flow] then
        known[flow] = true
        names[#names + 1] = '.' .. node_id(flow, 'flow')
      end
    end
    append(names, names[1] and '~nodes' or nil)
    return names
  end

  -- Reads nodes that a plan does not have yet. beside: fields to read with them. Returns their values.
  local function open_nodes(plan, ids, beside)
    plan.nodes = plan.nodes or {}
    local wanted, names = {}, {}
    local function note_record(field, record)
      local id = string.sub(field, 2)
      local task, text = parse(record or nil)
      plan.nodes[id] = { id = id, task = task, text = text, found = record and task.flow ~= nil }
      plan.stored_before[field] = record or nil
      return task
    end
    for _, id in ipairs(ids) do
      local field = '.' .. id
      if read_before[field] ~= nil and not plan.nodes[id] then
        note_record(field, read_before[field])
      elseif not plan.nodes[id] then
        plan.nodes[id] = {}
        wanted[#wanted + 1] = field
      end
    end
    for _, field in ipairs(wanted) do
      names[#names + 1] = field
    end
    if not plan.live_nodes then
      if read_before['~nodes'] == nil then
        names[#names + 1] = '~nodes'
      else
        plan.live_nodes = tonumber(read_before['~nodes'] or 0)
        plan.stored_before['~nodes'] = read_before['~nodes'] or nil
      end
    end
    local others = #names
    for _, field in ipairs(beside or {}) do
      names[#names + 1] = field
    end
    local records, known = read('HMGET', plan.keys.tasks, names), {}
    if not plan.live_nodes then
      plan.live_nodes = tonumber(records[others] or 0)
      plan.stored_before['~nodes'] = records[others] or nil
    end
    for i, field in ipairs(wanted) do
      append(known, note_record(field, records[i]))
    end
    if not beside then
      open_groups(plan, known)
    end
    return { unpack(records, others + 1, #names) }, known
  end

  -- A blocked node is blocked no longer.
  local function leave_blocked(plan, node)
    if not node.is_free then
      plan_write(plan, 'ZREM delayed', node.id)
      node.is_free = true
    end
  end

  local function is_over(task)
    return task.state == STATE.completed or task.state == STATE.rejected or task.state == STATE.deleted
  end

  -- The error of a node that falls: the id of the task that failed.
  local function named(because)
    return 'j"' .. because .. '"'
  end

  -- Lets a node follow its edges: it gets ready, ends, falls, or is blocked again.
  -- because: the id of the task that the node falls with.
  local function follow_edges(plan, node, open, failed, because)
    local id, task = node.id, node.task
    local fell = task.state == STATE.rejected and task.reason == 'dependency_failed'
    local is_join = task.node_kind == 'j'
    local waits = open > 0 and (failed == 0 or is_join)
    if task.state ~= STATE.waiting and not fell and not (is_join and is_over(task)) then
      return
    elseif waits and is_over(task) then
      task.state, task.reason, task.ended_at, task.lease_token = STATE.waiting, nil, nil, ''
      transition(task, 'blocked', plan.now)
      plan_write(plan, 'ZREM expiry', id)
      plan_write(plan, 'ZREM dead', id)
      plan_write(plan, 'ZADD delayed', BLOCKED.score(task), id)
      if task.node_kind then
        plan_write(plan, 'HSET tasks', id, '2;' .. task.enqueued_at .. ';F=' .. task.flow .. '\n')
      end
      node.is_free = nil
      note_outcome(plan, id, task, 'open')
    elseif not waits and not (fell and failed > 0) and task.edges then
      if is_over(task) then
        plan_write(plan, 'ZREM expiry', id)
        plan_write(plan, 'ZREM dead', id)
        task.state, task.reason, task.ended_at = STATE.waiting, nil, nil
        -- That what it waits for was open again has not been noticed.
        note_outcome(plan, id, task, 'open')
      else
        leave_blocked(plan, node)
      end
      task.because = because
      if failed > 0 and not is_join and not string.find(task.edges, 'f', 1, true) then
        end_task(plan, id, task, '', 'rejected', 'cancelled')
        return
      elseif failed > 0 then
        end_task(plan, id, task, because and named(because) or '', 'rejected', 'dependency_failed')
        return
      elseif task.node_kind then
        end_task(plan, id, task, '', 'completed', '')
        return
      end
      task.edges = nil
      local due = task.flow_delay and plan.now + tonumber(task.flow_delay)
      transition(task, due and 'delayed' or 'pending', plan.now)
      if due then
        plan_write(plan, 'ZADD delayed', score_when_due(task, due), id)
      else
        make_ready(plan, id, task, 'back')
        plan.keys.has_released = true
      end
      note_event(plan, 'released', id)
    end
    plan_write(plan, 'HSET tasks', '.' .. id, format(task, node.text))
  end

  -- Notes what has become of an edge of a node. `follow_changes` must be called after.
  -- edge: its number, from 0.
  local function notify_node(plan, node, edge, outcome, because)
    plan.changed_nodes = plan.changed_nodes or {}
    if not node.changes then
      node.changes = {}
      plan.changed_nodes[#plan.changed_nodes + 1] = node
    end
    node.changes[#node.changes + 1] = { edge = edge, outcome = outcome, because = because }
  end

  -- Lets the nodes follow that were notified. Each changes its edges once, as it may have thousands.
  local function follow_changes(plan)
    local all = plan.changed_nodes or {}
    plan.changed_nodes = nil
    for _, node in ipairs(all) do
      local changes = node.changes
      local open, failed, from = string.match(node.task.edges or '', '^(%d+),(%d+),()')
      local count, pieces, failure = { c = 0, e = 0, r = 0, f = 0, m = 0, x = 0 }, {}, nil
      local is_join = node.task.node_kind == 'j'
      -- Those of an edge in the order in which they came: it may be opened and closed again.
      for order, one in ipairs(changes) do
        one.order = order
      end
      table.sort(changes, function(one, other)
        return one.edge < other.edge or (one.edge == other.edge and one.order < other.order)
      end)
      node.changes = nil
      for _, one in ipairs(open and changes or {}) do
        local place = tonumber(from) + one.edge
        local known = pieces[#pieces]
        local piece = known and known.place == place and known
          or { place = place, now = string.sub(node.task.edges, place, place) }
        local was = piece.now
        local now = AFTER[one.outcome][was]
        if now then
          if one.outcome == 'open' then
            node.task.cancelled = nil
          end
          count[was] = count[was] - 1
          count[now] = (count[now] or 0) + 1
          if now == 'f' or (is_join and now == 'x') then
            if not failure then
              failure = one.because
            end
          elseif node.text == named(one.because) then
            node.text, node.task.because = '', one.because
          end
          piece.now = now
          append(pieces, piece ~= known and piece or nil)
        end
      end
      if pieces[1] then
        -- A join ends later than the task that failed: its record names that task meanwhile.
        local because = string.match(node.text, '^j"(.*)"$') or failure
        if because then
          node.text = named(because)
        end
        open = tonumber(open) + count.c + count.e + count.r
        failed = tonumber(failed) + count.f + count.m + (is_join and count.x or 0)
        local parts = { int(open), ',', int(failed), ',' }
        local last = tonumber(from) - 1
        for _, piece in ipairs(pieces) do
          append(parts, string.sub(node.task.edges, last + 1, piece.place - 1), piece.now)
          last = piece.place
        end
        append(parts, string.sub(node.task.edges, last + 1))
        node.task.edges = table.concat(parts)
        follow_edges(plan, node, open, failed, because)
      elseif open and node.task.state == STATE.waiting then
        local is_closed = tonumber(open) == 0 or (tonumber(failed) > 0 and node.task.node_kind ~= 'j')
        -- As after a failover: it is still blocked.
        if is_closed then
          follow_edges(plan, node, tonumber(open), tonumber(failed), changes[1].because)
        end
      end
    end
  end

  -- Notifies the followers of all nodes that have ended in this plan, and of those that end because of it.
  local function notify_followers(plan)
    local notified, first = 0, 1
    local seen = {}
    local outcomes = plan.outcomes or {}
    while outcomes[first] do
      local last, ids, edges = #outcomes, {}, {}
      for i = first, last do
        local ended, more = outcomes[i], 0
        local own, others = own_followers(ended.task)
        for k = 1, #own, 2 do
          own[k] = node_id(ended.task.flow, own[k])
          more = more + (seen[own[k]] and 0 or 1)
        end
        -- A script that does not have all places, such as cancel, notifies none itself.
        local is_complete = plan.keys.pending and plan.keys.dead
        if not is_complete or notified + more > MOST_NOTIFIED then
          own = {}
          others, more = ended.task.followers, 0
        end
        notified = notified + more
        for k = 1, #own, 2 do
          seen[own[k]] = true
          append(ids, own[k])
          append(edges, { edge = own[k + 1], ended = ended })
        end
        -- A join and a gate name the task because of which they ended.
        local because = ended.task.node_kind and ended.task.because or ended.id
        ended.because = because
        if others ~= '' then
          local member = '~x:' .. ended.id
          plan_write(plan, 'ZADD expiry', BLOCKED.task, member)
          append(outbox, member, 'node')
          append(outbox, ended.outcome, others)
          outbox[#outbox + 1] = because
        end
      end
      open_nodes(plan, ids)
      for i, id in ipairs(ids) do
        local node, ended = plan.nodes[id], edges[i].ended
        if node.found then
          notify_node(plan, node, edges[i].edge, ended.outcome, ended.because)
        end
      end
      follow_changes(plan)
      first = last + 1
    end
    if plan.more_nodes and plan.more_nodes ~= 0 then
      if not plan.live_nodes then
        open_nodes(plan, {})
      end
      plan.live_nodes = math.max(0, plan.live_nodes + plan.more_nodes)
      plan_write(plan, 'HSET tasks', '~nodes', int(plan.live_nodes))
    end
    -- Not before, as `revoke` counts what its tasks write there.
    for i = 2, #outbox, 5 do
      if outbox[i] == 'cancel' then
        plan_write(plan, 'ZADD expiry', BLOCKED.task, outbox[i - 1])
      end
    end
    plan.outcomes, plan.more_nodes = nil, nil
  end

  return {
    node_id = node_id,
    outcome_of = outcome_of,
    note_outcome = note_outcome,
    read_before = read_before,
    fields_with = fields_with,
    outbox = outbox,
    -- The members of those flows that are to be cancelled.
    cancels = {},
    open_nodes = open_nodes,
    notify_node = notify_node,
    follow_changes = follow_changes,
    notify_followers = notify_followers,
  }
end)()

WRITE_ORDER = (function(inner)
  local order = { 'ZREM delayed' }
  for _, what in ipairs(inner) do
    order[#order + 1] = what
  end
  return order
end)(WRITE_ORDER)

-- The record of a task of a flow stays until the flow has ended. `kept_for` says how long from then on.
end_task = (function(inner)
  return function(plan, id, task, text, state, reason, given)
    if task.node_kind then
      -- It is no task: not listed, counted or reported.
      task.state, task.reason = state == 'completed' and STATE.completed or STATE.rejected, reason
      if reason == '' then
        task.reason = nil
      end
      task.ended_at, task.kept_for = int(plan.now), int(DEFAULT_DEAD_TTL)
      transition(task, state, plan.now)
      plan_write(plan, 'HSET tasks', id, '')
      plan_write(plan, 'HSET tasks', '.' .. id, format(task, text))
      plan_write(plan, 'ZADD expiry', int(plan.now + UNTIL_THE_END), id)
      flows.note_outcome(plan, id, task, state == 'completed' and 'completed' or 'failed')
      return
    elseif task.flow then
      local own = state == 'completed' and (task.result_ttl or DEFAULT_RESULT_TTL)
        or task.dead_ttl
        or DEFAULT_DEAD_TTL
      task.kept_for = int(reason == 'cancelled' and 0 or given or own)
    end
    inner(plan, id, task, text, state, reason, task.flow and UNTIL_THE_END or given)
    if task.flow and reason == 'cancelled' then
      -- One member for each task that ends: `revoke` counts them.
      local expires = planned_writes(plan, 'ZADD expiry')
      expires[#expires - 1] = int(plan.now + UNTIL_THE_END)
    end
    flows.note_outcome(plan, id, task, flows.outcome_of(task))
    if
      task.cancels_at
      and state == 'rejected'
      and reason ~= 'cancelled'
      and reason ~= 'dependency_failed'
    then
      local member = '~x:flow{' .. task.flow .. '} !f ' .. task.cancels_at
      if not flows.cancels[member] then
        flows.cancels[member] = true
        append(flows.outbox, member, 'cancel')
        append(flows.outbox, '', '')
        append(flows.outbox, '')
      end
    end
  end
end)(end_task)

-- Of a task of a flow it stays known how it ended, as others may have to be notified.
erase = (function(inner)
  return function(plan, id, task)
    if not task.flow then
      inner(plan, id, task)
      return
    end
    add(task, 'version', 1)
    task.state, task.history, task.errors = STATE.deleted, nil, nil
    task.max_attempts, task.result_ttl, task.dead_ttl = nil, nil, nil
    plan_write(plan, 'HSET tasks', id, '')
    plan_write(plan, 'HSET tasks', '.' .. id, format(task, ''))
    plan_write(plan, 'ZREM dead', id)
    note_event(plan, 'deleted', id)
  end
end)(erase)

-- A dead letter that is redriven blocks again what fell with it.
wait_again = (function(inner)
  return function(plan, id, task, text, place, due)
    local was_over = task.state == STATE.rejected
    inner(plan, id, task, text, place, due)
    if was_over then
      flows.note_outcome(plan, id, task, 'open')
    end
  end
end)(wait_again)

commit = (function(inner)
  return function(plan)
    flows.notify_followers(plan)
    return inner(plan)
  end
end)(commit)

-- A settle reads the flows as a whole with the records of its tasks.
append_settled = (function(inner)
  return function(names, items, from)
    inner(names, items, from)
    for _, field in ipairs(flows.fields_with(items, from)) do
      names[#names + 1] = field
    end
    return names
  end
end)(append_settled)

-- Whom a settle leaves to be notified is behind its reply, with its time: the caller can do it at once.
settle_in_full = (function(inner)
  return function(keys, now, call, items, from, records)
    local first = 2 + (#items - from) / SETTLEMENT
    for i, field in ipairs(flows.fields_with(items, from)) do
      flows.read_before[field] = records[first + i] or false
    end
    local reply = inner(keys, now, call, items, from, records)
    -- In any order: all are forgotten, as the next plan must read them again.
    for field in pairs(flows.read_before) do
      flows.read_before[field] = nil
    end
    if flows.outbox[1] and reply[1] == 'ok' then
      append(reply, { 'outbox', int(now), unpack(flows.outbox) })
    end
    return reply
  end
end)(settle_in_full)
