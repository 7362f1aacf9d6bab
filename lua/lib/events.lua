-- events: what a call reports: published events, and the statistics of each minute.

-- Notes what happened to a task, for events and statistics.
local function tell(plan, event, id)
  if plan.news then
    plan.news[event] = plan.news[event] or {}
    append(plan.news[event], id)
  end
end

-- Counts the news into the minute's statistics; a minute that is over moves to its place among the last
-- sixty.
local function count_news(plan)
  local minute, counts = math.floor(plan.now / 60000), {}
  local last = tonumber(string.match(plan.stats, '^1;(%d+)') or 0)
  if last < minute and last > 0 then
    will(plan, 'HSET tasks', '~m' .. int(last % 60), plan.stats)
  end
  for event, count in string.gmatch(last < minute and '' or plan.stats, ';(%a+)=(%d+)') do
    counts[event] = count
  end
  -- In any order: each has a count of its own.
  for event, ids in pairs(plan.news) do
    add(counts, event, #ids)
  end
  plan.stats = '1;' .. int(math.max(last, minute))
  for _, event in ipairs(sorted_keys(counts)) do
    plan.stats = plan.stats .. ';' .. event .. '=' .. counts[event]
  end
  will(plan, 'HSET tasks', '~stats', plan.stats)
end

-- Publishes the news: `<event> <when> <id> …`.
local function publish(plan)
  local channel = string.gsub(plan.at.tasks, 'tasks$', 'events')
  for _, event in ipairs(sorted_keys(plan.news)) do
    local ids = table.concat(plan.news[event], ' ')
    redis.call('PUBLISH', channel, event .. ' ' .. int(plan.now) .. ' ' .. ids)
  end
end
