-- events: what a call reports: published events, and the statistics of each minute.

-- Notes an event of a task, if the queue has events or statistics.
local function note_event(plan, event, id)
  if plan.events then
    plan.events[event] = plan.events[event] or {}
    append(plan.events[event], id)
  end
end

-- Adds the events to the statistics of this minute. The first call in a new minute moves the past minute's
-- record from `~stats` to its field `~m<minute modulo 60>`.
local function count_events(plan)
  local minute, counts = math.floor(plan.now / 60000), {}
  local last = tonumber(string.match(plan.stats, '^1;(%d+)') or 0)
  if last < minute and last > 0 then
    plan_write(plan, 'HSET tasks', '~m' .. int(last % 60), plan.stats)
  end
  for event, count in string.gmatch(last < minute and '' or plan.stats, ';(%a+)=(%d+)') do
    counts[event] = count
  end
  -- In any order: each event has its own count.
  for event, ids in pairs(plan.events) do
    add(counts, event, #ids)
  end
  plan.stats = '1;' .. int(math.max(last, minute))
  for _, event in ipairs(sorted_keys(counts)) do
    plan.stats = plan.stats .. ';' .. event .. '=' .. counts[event]
  end
  plan_write(plan, 'HSET tasks', '~stats', plan.stats)
end

-- Publishes the events: `<event> <when> <id> …`.
local function publish_events(plan)
  local channel = string.gsub(plan.keys.tasks, 'tasks$', 'events')
  for _, event in ipairs(sorted_keys(plan.events)) do
    local ids = table.concat(plan.events[event], ' ')
    redis.call('PUBLISH', channel, event .. ' ' .. int(plan.now) .. ' ' .. ids)
  end
end
