-- fair-order: the order of each group's tasks in `fair`. A task's score is its turn; the zset `fair-by-group`
-- lists the turns of each group. If a task leaves before its turn, the group's tasks behind it move up, as if
-- it had never been there.

-- A member of `fair-by-group`: sorted by group, then by score.
local function turn_of(group, score, id)
  return group .. ' ' .. string.format('%016.0f', tonumber(score)) .. ' ' .. id
end

local function add_to_fair(plan, group, score, id)
  plan_write(plan, 'ZADD fair', int(score), id)
  plan_write(plan, 'ZADD fair_by_group', '0', turn_of(group.name, score, id))
end

-- Adds to a plan that a task leaves `fair`. Returns its group's share of that priority.
local function remove_from_fair(plan, task, score, id)
  local group, band = group_of(plan, task), tonumber(task.priority or 0)
  local share = add_ready(group, band, -1)
  local member = turn_of(group.name, score, id)
  plan_write(plan, 'ZREM fair_by_group', member)
  plan.removed_turns[member] = true
  share.removed = (share.removed or 0) + 1
  return share
end

-- As `remove_from_fair`, for a task whose turn has come. If it was the last task that had moved up, the tasks
-- behind it must move up next.
local function take_turn(plan, task, score, id)
  local share = remove_from_fair(plan, task, score, id)
  share.needs_move_up = share.needs_move_up or (share.moved_up_to and score % BAND >= share.moved_up_to)
  return share
end

-- The tags and ids of a group's first turns from a tag on, except those that the plan removes; and true if
-- there may be more.
local function turns_from(plan, group, base, tag, most)
  local first, last = '[' .. turn_of(group.name, base + tag, ''), '(' .. turn_of(group.name, base + BAND, '')
  local turns = {}
  local found = redis.call('ZRANGE', plan.keys.fair_by_group, first, last, 'BYLEX', 'LIMIT', '0', int(most))
  for _, member in ipairs(found) do
    local score, id = string.match(member, ' (%d+) (%S+)$')
    if score and not plan.removed_turns[member] then
      turns[#turns + 1] = { tag = tonumber(score) - base, id = id }
    end
  end
  return turns, #found == most
end

-- Moves up the tasks behind those that left early, or behind those that moved up last. `moved_up_to` is the
-- tag up to which all have moved. Up to that tag, a task moves by the cost of those that left before it.
-- Beyond it, each task follows the one before it by its cost.
local function move_up(plan, group, band, share)
  local base, cost, holes = score_at(band, 0), cost_of(group), share.left_early or {}
  local turns, more, passed = {}, false, 0
  table.sort(holes)
  -- Tasks far behind virtual time, as after a failover, must not get turns that have passed.
  local before = holes[1] and holes[1] - cost or math.max(share.moved_up_to, (plan.times[band] or 0) - cost)
  if share.ready > 0 then
    turns, more = turns_from(plan, group, base, holes[1] or before, plan.move_up_limit + share.removed)
  end
  for _, place in ipairs(turns) do
    while holes[passed + 1] and holes[passed + 1] <= place.tag do
      passed = passed + 1
    end
    local tag = before + cost
    if not share.moved_up_to or place.tag <= share.moved_up_to then
      tag = math.max(tag, place.tag - passed * cost)
    end
    if tag < place.tag then
      plan_write(plan, 'ZADD fair XX', int(base + tag), place.id)
      plan_write(plan, 'ZADD fair_by_group', '0', turn_of(group.name, base + tag, place.id))
      plan_write(plan, 'ZREM fair_by_group', turn_of(group.name, base + place.tag, place.id))
    end
    before = math.min(tag, place.tag)
  end
  share.moved_up_to, share.left_early, share.needs_move_up, share.removed =
    more and before or nil, nil, nil, nil
  if not more then
    share.last_tag = math.max(0, before)
  end
end

-- Moves up the tasks of all groups that need it, at most about 2,000 in all, so that no call takes long. Must
-- be called after tasks have left `fair` and before others enter it.
local function move_up_all(plan)
  local lines = {}
  -- In any order: the shares are independent, and have the same limit.
  for _, group in pairs(plan.groups) do
    for band = 0, 9 do
      local share = group.bands and group.bands[band]
      if share and (share.left_early or share.needs_move_up) then
        lines[#lines + 1] = { group, band, share }
      end
    end
  end
  plan.move_up_limit = math.min(plan.move_up_limit, math.ceil(2000 / #lines))
  for _, line in ipairs(lines) do
    move_up(plan, unpack(line))
  end
end
