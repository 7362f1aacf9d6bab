-- adding: how nodes of a flow begin.

-- Adds nodes and fields of a flow to a plan. Returns how many nodes, and whether a task of them is ready. A
-- task that is blocked again, as it has lost its record, is not counted.
-- items: id, edges and record of each, the first after index `from`. add-flow.lua says what they are.
-- letters: more letters of the first one. Default: none.
local function begin_nodes(plan, items, from, letters)
  local any_ready, grouped_tasks, nodes, counted = false, {}, {}, 0
  local lists = {}

  -- A field that is added to, with what this plan has added; false if there is none.
  local function list_in(field)
    if lists[field] == nil then
      lists[field] = redis.call('HGET', plan.keys.tasks, field)
      plan.stored_before[field] = lists[field] or nil
    end
    return lists[field]
  end

  local function set_list(field, list)
    lists[field] = list
    plan_write(plan, 'HSET tasks', field, list)
  end

  -- count: 1, or 0 for one that is known already.
  local function add_node(id, edges, fixed, count)
    local task = parse_with(fixed, nil)
    nodes[#nodes + 1] = { id = id, edges = edges, fixed = fixed, task = task }
    append(grouped_tasks, edges == '' and task or nil)
    counted = counted + count
  end

  for place = from + 1, #items, 3 do
    local id, edges, record = unpack(items, place, place + 2)
    if edges == '~' then
      plan_write(plan, 'HSET tasks', id, record)
    elseif edges == '~l' then
      -- A part of a layout is in the list of its flow, which is gone if the flow has ended.
      local flow, name = string.match(id, '^(~F:[^ ]+) (.*)$')
      local list = list_in(flow)
      if list and not string.find(',' .. list .. ',', ',' .. name .. ',', 1, true) then
        plan_write(plan, 'HSET tasks', id, record)
        set_list(flow, list .. ',' .. name)
      end
    elseif edges == '~a' then
      -- What a task waits for. It is gone if the flow has ended.
      local list = list_in(id)
      if list and not string.find(list, record, 1, true) then
        set_list(id, string.sub(list, 1, -2) .. ',' .. record .. ']')
      end
    elseif string.sub(edges, 1, 2) == '~r' then
      -- A node that has lost a record begins again. A task keeps its payload: without it, it is lost.
      local known = redis.call('HMGET', plan.keys.tasks, id, '.' .. id)
      plan.stored_before[id], plan.stored_before['.' .. id] = known[1] or nil, known[2] or nil
      local has_text = has_payload(known[1])
      local due = has_text and record == '' and redis.call('ZSCORE', plan.keys.delayed, id)
      if record ~= '' and not (has_text and known[2]) then
        add_node(id, string.sub(edges, 3), '2;' .. int(plan.now) .. record, 1)
      elseif due and not known[2] and tonumber(due) >= tonumber(BLOCKED.task) then
        add_node(id, string.sub(edges, 3), known[1], 0)
      end
    elseif string.sub(edges, 1, 1) == '~' then
      if edges == '~x' then
        plan_write(plan, 'HSET tasks', id, record)
      end
      plan_write(plan, 'ZADD expiry', BLOCKED.task, id)
    else
      local more = place == from + 1 and letters or ''
      add_node(id, edges, '2;' .. int(plan.now) .. more .. record, 1)
    end
  end
  open_groups(plan, grouped_tasks)
  for _, node in ipairs(nodes) do
    local id, task, edges = node.id, node.task, node.edges
    plan_write(plan, 'HSET tasks', id, node.fixed)
    if not task.node_kind then
      note_event(plan, 'enqueued', id)
    end
    local delay = tonumber(parse_fixed(node.fixed).flow_delay or 0)
    task.flow_delay = delay > 0 and int(delay) or nil
    if edges ~= '' then
      local _, open = string.gsub(edges, '[cer]', '')
      task.edges = int(open) .. ',0,' .. edges
      plan_write(plan, 'ZADD delayed', BLOCKED.score(task), id)
      plan_write(plan, 'HSET tasks', '.' .. id, format(task, ''))
    elseif delay > 0 then
      plan_write(plan, 'ZADD delayed', score_when_due(task, plan.now + delay), id)
      plan_write(plan, 'HSET tasks', '.' .. id, format(task, ''))
    else
      make_ready(plan, id, task, 'back')
      plan_write(plan, 'HSET tasks', '.' .. id, format(task, ''))
      any_ready = true
    end
  end
  return counted, any_ready
end

-- Whether all entries of the outbox are still there that were staged. items: as in `begin_nodes`
local function are_staged(expiry, items, from)
  local staged = {}
  for place = from + 1, #items, 3 do
    append(staged, items[place + 1] == '~s' and items[place] or nil)
  end
  for _, score in ipairs(read('ZMSCORE', expiry, staged)) do
    if not score then
      return false
    end
  end
  return true
end

-- Writes a plan that adds nodes. Returns the error if Redis has no room: then nothing has changed.
-- stats, nodes: the values of these control fields
local function commit_nodes(plan, stats, nodes, added)
  plan_write(plan, 'HSET tasks', '~nodes', int(tonumber(nodes or 0) + added))
  finish_plan(plan)
  local failed = store_or_undo(plan, { ['~stats'] = stats, ['~nodes'] = nodes })
  if not failed then
    commit(plan)
  end
  return failed
end
