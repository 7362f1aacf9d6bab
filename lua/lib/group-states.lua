-- group-states: compares the states of groups with where their tasks are.

-- Counts a task in `fair`. group: what is counted of it.
local function count_ready(group, score)
  local band, tag = read_score(score)
  local share = ready(group, band, 1)
  share.last = math.max(share.last, tag % LATEST_TAG)
end

-- Counts a working one.
local function count_working(group)
  group.working = group.working + 1
end

-- True if a group's state is wrong, or not in the right form. Corrects it. is: what was counted; text: the
-- state as it stands in `tasks`.
local function correct(group, is, text)
  local wrong = group.working ~= is.working or group.limited ~= is.limited
  -- `open_groups` has changed it already if it has a rate and the clock has jumped back.
  wrong = wrong or (not group.changed and format_group(group) ~= text)
  if is.limited > 0 and group.last_back_place == 0 then
    -- Behind all that are held.
    group.last_back_place = LIMITED_LATER / 2
  end
  group.working, group.limited, group.ready = is.working, is.limited, is.ready
  for band = 0, 9 do
    local share = group.bands[band] or { last = 0, ready = 0 }
    local real = is.bands[band] or { last = 0, ready = 0 }
    wrong = wrong or share.ready ~= real.ready or share.last >= LATEST_TAG
    if real.ready > 0 then
      local last = share.last < LATEST_TAG and share.last or 0
      group.bands[band] = { last = math.max(last, real.last), ready = real.ready, straight = share.straight }
    else
      group.bands[band] = nil
    end
  end
  return wrong
end

-- True if a group needs a timer and has none.
local function unwatched(mending, group)
  if group.limited == 0 then
    return false
  end
  local plan = mending.plan
  set_timer(plan, group)
  local needed = planned(plan, 'timers') > 0
  plan.writes.timers = nil
  return needed and not scores_in(mending, 'delayed', { '~g:' .. group.name })[1]
end
