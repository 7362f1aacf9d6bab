-- group-states: how the deep sweep compares the states of groups with the places of their tasks.

-- Counts a task in `fair`. group: the state that the count builds up.
local function count_ready(group, score)
  local band, tag = read_score(score)
  local share = add_ready(group, band, 1)
  share.last_tag = math.max(share.last_tag, tag % LATEST_TAG)
end

-- Counts a working task.
local function count_working(group)
  group.working = group.working + 1
end

-- Corrects a group's state. Returns true if it was wrong or badly formatted. actual: the state as counted;
-- text: the state in `tasks`.
local function correct_group(group, actual, text)
  -- `open_groups` has changed it already if it has a rate and the clock has jumped back.
  local wrong = group.working ~= actual.working
    or group.limited ~= actual.limited
    or (not group.changed and format_group(group) ~= text)
  if actual.limited > 0 and group.last_back_place == 0 then
    -- Further tasks then get places behind all that are in `limited`.
    group.last_back_place = LIMITED_LATER / 2
  end
  group.working, group.limited, group.ready = actual.working, actual.limited, actual.ready
  for band = 0, 9 do
    local share = group.bands[band] or { last_tag = 0, ready = 0 }
    local real = actual.bands[band] or { last_tag = 0, ready = 0 }
    wrong = wrong or share.ready ~= real.ready or share.last_tag >= LATEST_TAG
    if real.ready > 0 then
      local last = share.last_tag < LATEST_TAG and share.last_tag or 0
      group.bands[band] =
        { last_tag = math.max(last, real.last_tag), ready = real.ready, moved_up_to = share.moved_up_to }
    else
      group.bands[band] = nil
    end
  end
  return wrong
end

-- True if a group needs a timer and has none.
local function lacks_timer(repair, group)
  if group.limited == 0 then
    return false
  end
  local plan = repair.plan
  set_timer(plan, group)
  local needed = planned_count(plan, 'timers') > 0
  plan.writes.timers = nil
  return needed and not scores_in(repair, 'delayed', { '~g:' .. group.name })[1]
end
