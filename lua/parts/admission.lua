-- admission: which tasks of a group go to `fair`, and which wait in `limited` until their group has room.

-- Adds a task to `fair` with a new tag.
local function admit_to_fair(plan, group, band, id)
  local share = add_ready(group, band, 1)
  share.last_tag = math.max(plan.times[band] or 0, share.last_tag) + cost_of(group)
  add_to_fair(plan, group, score_at(band, share.last_tag), id)
end

-- Gives a ready task its place: the list, `fair` or `limited`.
-- place: 'back';
--        'front', which only the list has: in `fair` it is the back of the group;
--        'unstarted', for a task that was handed back unstarted: the front of the list, or its old tag in
--        `fair`;
--        'aside', for a task that was taken out of `fair` because its group is at its limit: `limited`, ahead
--        of the group's tasks that were never in `fair`.
local function make_ready(plan, id, task, place)
  if not grouped(task) then
    plan_write(plan, place == 'back' and 'LPUSH pending' or 'RPUSH pending', id)
    return
  end
  local group, band = group_of(plan, task), tonumber(task.priority or 0)
  local full = group.limited > 0 or room(group, plan.now) < 1
  -- A tag that was delivered is not above virtual time, unless virtual time has restarted since.
  if place == 'unstarted' and task.fair_score and task.fair_score % BAND <= (plan.times[band] or 0) then
    add_ready(group, band, 1)
    add_to_fair(plan, group, task.fair_score, id)
    group.handed_back = group.limited > 0
  elseif place == 'aside' or (full and ready_below(group, band) == 0) then
    local last = place == 'aside' and 'last_front_place' or 'last_back_place'
    group[last], group.limited, group.newly_limited =
      group[last] + 1, group.limited + 1, group.newly_limited + 1
    plan.times.limited = plan.times.limited + 1
    local number = group[last] + (place == 'aside' and 0 or LIMITED_LATER)
    plan_write(
      plan,
      'ZADD limited',
      int(group.settings.number * LIMITED_GROUP + (9 - band) * LIMITED_BAND + number),
      id
    )
  else
    admit_to_fair(plan, group, band, id)
  end
  task.fair_score = nil
end

-- The tasks of a group in `limited`, in the order in which they leave it: at most `most` from the zset, and
-- all that this plan adds to it. Also returns how many came from the zset.
local function limited_of(plan, group, lowest, most)
  local waiting, highest = {}, lowest + LIMITED_GROUP
  if most > 0 then
    local least, before, limit = int(lowest), '(' .. int(highest), int(most)
    local ids =
      redis.call('ZRANGE', plan.keys.limited, least, before, 'BYSCORE', 'LIMIT', '0', limit, 'WITHSCORES')
    for i = 1, #ids, 2 do
      waiting[#waiting + 1] = { id = ids[i], score = tonumber(ids[i + 1]) }
    end
  end
  local found = #waiting
  local fresh = group.newly_limited > 0 and planned_writes(plan, 'ZADD limited') or {}
  for i = 1, #fresh, 2 do
    local score = tonumber(fresh[i])
    if score >= lowest and score < highest then
      waiting[#waiting + 1] = { id = fresh[i + 1], score = score, place = i }
    end
  end
  table.sort(waiting, function(one, other)
    return one.score < other.score
  end)
  return waiting, found
end

-- Moves tasks from `limited` to `fair` while their groups have room, at most a hundred of a group. A task
-- that this plan adds to `limited` may have a higher priority than those already there.
local function admit_limited(plan)
  -- In any order: no group takes the room of another.
  for _, group in pairs(plan.groups) do
    local free = group.changed and math.min(group.limited, room(group, plan.now), 100) or 0
    -- Up to what may be delivered, tasks of a higher priority pass one that was handed back, and those that
    -- were set aside pass all others.
    local passes = group.handed_back or (group.changed and group.last_front_place > 0)
    local past = passes and math.min(group.limited, deliverable(group, plan.now), 100) or 0
    local most = math.max(free, past)
    group.handed_back = nil
    if most >= 1 then
      local lowest = group.settings.number * LIMITED_GROUP
      local wanted = math.min(most, group.limited - group.newly_limited)
      local waiting, found = limited_of(plan, group, lowest, wanted)
      local kept, taken, count = {}, {}, 0
      for i = 1, math.min(most, #waiting) do
        local task = waiting[i]
        local band = 9 - math.floor((task.score - lowest) / LIMITED_BAND)
        if i > free and ready_below(group, band) == 0 then
          break
        end
        count = i
        admit_to_fair(plan, group, band, task.id)
        if task.place then
          taken[task.place] = true
        else
          plan_write(plan, 'ZREM limited', task.id)
        end
      end
      local fresh = planned_writes(plan, 'ZADD limited')
      for i = 1, #fresh, 2 do
        if taken[i] then
          group.newly_limited = group.newly_limited - 1
        else
          append(kept, fresh[i], fresh[i + 1])
        end
      end
      plan.writes['ZADD limited'] = kept
      -- If fewer were found than are counted, these are all.
      local left = (found < wanted and #waiting or group.limited) - count
      plan.times.limited, group.limited = plan.times.limited - group.limited + left, left
    end
  end
end

-- Sets a timer in `delayed` for a group with limited tasks, unless these wait for other tasks to end. It is
-- due when the group's rate allows more or its pause ends, or now if the group has room.
local function set_timer(plan, group)
  if group.limited > count_stuck(group) then
    local when = plan.now
    if group.settings.rate then
      local left, opens = measure_rate(group.settings.rate, group.used, plan.now, 0)
      local ends = tonumber(group.settings.paused) or 0
      when = left > group.ready and when or ends > 1 and ends or opens
    end
    plan_write(plan, 'timers', when and int(when), when and '~g:' .. group.name)
  end
end

-- Removes a waiting task from the counts of its group, as if it had never been enqueued.
-- place: the key of the zset that has it.
local function refund(plan, id, task, place, score)
  if place == plan.keys.fair then
    local share, tag = remove_from_fair(plan, task, score, id), score % BAND
    -- A task that was handed back has had its turn. One beyond `moved_up_to` does not delay others yet.
    if tag >= (plan.times[tonumber(task.priority or 0)] or 0) and tag <= (share.moved_up_to or tag) then
      share.left_early = share.left_early or {}
      append(share.left_early, tag)
    end
  else
    local group = group_of(plan, task)
    group.limited, plan.times.limited = group.limited - 1, plan.times.limited - 1
  end
end

-- As `refund`, if the task waits in `fair` or `limited`. Returns the zset and its score there.
local function find_and_refund(plan, id, task)
  local keys, place = plan.keys, plan.keys.fair
  local score = redis.call('ZSCORE', place, id)
  if not score then
    place = keys.limited
    score = redis.call('ZSCORE', place, id)
  end
  if score then
    refund(plan, id, task, place, score)
  end
  return place, score
end

-- Records the delivery of a task: virtual time advances to its tag.
local function note_delivery(plan, id, task, place)
  local band, tag = read_score(place.score)
  plan.times[band] = math.max(plan.times[band] or 0, tag)
  if grouped(task) then
    local group = group_of(plan, task)
    if not place.listed then
      local share = take_turn(plan, task, place.score, id)
      task.fair_score = place.score
      if share.needs_move_up then
        -- Nothing beyond this may be delivered before the next task of the group has moved up.
        local next_turn = score_at(band, share.moved_up_to + cost_of(group))
        plan.bound = math.min(plan.bound or next_turn, next_turn)
      end
    end
    group.working = group.working + 1
    if group.settings.rate then
      local _, _, used = measure_rate(group.settings.rate, group.used, plan.now, 1)
      group.used = used
    end
  end
end

-- Adds the states of changed groups, and `~fair`, to the writes of a plan.
local function write_groups(plan)
  local more_stuck = 0
  -- In any order: each group has fields of its own, and the rest is a sum.
  for _, group in pairs(plan.groups) do
    if group.changed then
      set_timer(plan, group)
      group.newly_limited = 0
      more_stuck = more_stuck + count_stuck(group) - group.stuck
      group.stuck = count_stuck(group)
      group.version = math.max(plan.now, (group.version or 0) + 1)
      local text = format_group(group)
      if text == '' then
        plan_write(plan, 'HDEL tasks', '~g:' .. group.name)
      else
        plan_write(plan, 'HSET tasks', '~g:' .. group.name, text)
      end
      local set = group.settings
      if group.limited == 0 and set.number and #sorted_keys(set) == 1 then
        -- The limit was removed, and its tasks have left `limited`.
        plan_write(plan, 'HDEL tasks', '~s:' .. group.name)
      end
      group.changed = nil
      plan.fair_changed = true
    end
  end
  if plan.fair_changed then
    local any_limited = plan.times.limited > 0
    plan.times.written_at = any_limited and math.max(plan.times.written_at or 0, plan.now) or nil
    plan.times.reset_from = any_limited and plan.times.reset_from or nil
  end
  if plan.times then
    plan.times.stuck = math.max(0, plan.times.stuck + more_stuck)
  end
  if
    plan.fair_changed
    and plan.drained
    and plan.times.limited == 0
    and planned_count(plan, 'ZADD fair') == 0
  then
    plan_write(plan, 'HDEL tasks', '~fair')
  elseif plan.fair_changed then
    plan_write(plan, 'HSET tasks', '~fair', format_clock(plan.times))
  end
end
