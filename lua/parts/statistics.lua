-- statistics: where the counts of each minute and of the last day are, and which of them a reply has.

-- The fields of `tasks` with the statistics: of all minutes before the last one with events, of that one, and
-- of each of the last sixty.
local function statistics_fields()
  local fields = { '~totals', '~stats' }
  for i = 0, 59 do
    append(fields, '~m' .. int(i))
  end
  return fields
end

-- Appends those records to a reply that began in the last `minutes`. A field that was not used again has an
-- older one.
local function append_recent(reply, records, now, minutes)
  for _, record in ipairs(records) do
    local minute = string.match(record or '', '^1;(%d+)')
    if minute and tonumber(minute) > math.floor(now / 60000) - minutes then
      append(reply, record)
    end
  end
end

-- Appends the records of the statistics to a reply: the first two, then those of the last sixty minutes.
-- found: the values of `statistics_fields`.
local function append_statistics(reply, found, now)
  append(reply, found[1] or '', found[2] or '')
  append_recent(reply, { unpack(found, 3) }, now, 60)
end

-- The fields of `tasks` with the statistics of the last day, in buckets of five minutes.
local function history_fields()
  local fields = {}
  for i = 0, 287 do
    append(fields, '~h' .. int(i))
  end
  return fields
end
