-- list-groups: reads a page of the groups that have waiting tasks, with settings and counts. Changes nothing.
local fair_by_group = KEYS[1] -- zset  '<group> <score> <id>' of each task in `fair`
local limited = KEYS[2] -- zset  id -> place, of tasks whose group is at its limit
local tasks = KEYS[3] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local cursor = ARGV[2] -- the cursor of the previous page; empty for the first
local size = ARGV[3] -- at most this many groups, 1 to 1,000
-- Returns {'ok', cursor of the next page (empty: none), then for each group: its name, settings
--          ('' for none), how many of its tasks are ready, working, in `limited` because of its limits, in
--          line; and the id of the dead letter that stops it (empty: none)}
--      or {'newer_schema'}

-- How many entries one read returns at most, and how many reads of entries one call makes.
local READ = 200
local MOST_READS = 50

-- Groups with tasks in `fair` come first, by name. `last` is the last one that was read. Then come those with
-- a line and no tasks in `fair`: their names begin with `~` here. Last come those that have tasks only in
-- `limited`. `number` is the lowest that was not read.
local last = string.match(cursor, '^after (.*)$') or ''
local number = tonumber((string.match(cursor, '^from (%d+)$')))
local most, reads = tonumber(size), 0

local names = {}
while not number and #names < most and reads < MOST_READS do
  reads = reads + 1
  -- `!` sorts behind the space in the members of the last group, so this jumps over all of them.
  local members =
    redis.call('ZRANGE', fair_by_group, '(' .. last .. '!', '(~~', 'BYLEX', 'LIMIT', '0', int(READ))
  for _, member in ipairs(members) do
    local name = string.match(member, '^[^ ]*')
    if name ~= last and #names < most then
      last = name
      names[#names + 1] = name
    end
  end
  if #members < READ and string.match(members[#members] or last, '^[^ ]*') == last then
    number = 1
  end
end
local in_fair, with_lines = 0, #names
while names[in_fair + 1] and string.sub(names[in_fair + 1], 1, 1) ~= '~' do
  in_fair = in_fair + 1
end

local ids, ended = {}, false
while number and not ended and with_lines + #ids < most and reads < MOST_READS do
  reads = reads + 1
  local least = int(number * LIMITED_GROUP)
  local found = redis.call('ZRANGE', limited, least, '+inf', 'BYSCORE', 'LIMIT', '0', int(READ), 'WITHSCORES')
  ended = #found < 2 * READ
  for i = 1, #found, 2 do
    local own = math.floor(tonumber(finite(found[i + 1])) / LIMITED_GROUP)
    if own >= number and with_lines + #ids < most then
      ids[#ids + 1] = found[i]
      number = own + 1
    end
    ended = ended and own < number
  end
end
local records = read_first_lines(tasks, ids)
for _, id in ipairs(ids) do
  append(names, parse_fixed(records[id] or '').group)
end

local fields = {}
for i, name in ipairs(names) do
  names[i] = string.match(name, '^~?(.*)$')
  append(fields, '~g:' .. names[i], '~s:' .. names[i])
  append(fields, '~o:' .. names[i])
end
local found, now = read('HMGET', tasks, fields), nil
local function time()
  if not now then
    now = clock(test_now)
  end
  return now
end
local reply = { 'ok', ended and '' or number and 'from ' .. int(number) or 'after ' .. last }
for i, name in ipairs(names) do
  local state, settings, line = found[3 * i - 2], found[3 * i - 1], lines.parse_line(found[3 * i] or nil)
  if newer(state) or newer_settings(settings) then
    return { 'newer_schema' }
  end
  settings = current_settings(settings, time)
  local group = parse_group(name, state, settings)
  -- A group that was found in one place was found before if it also has tasks in one of those before it.
  local is_first = i <= in_fair or (group.ready == 0 and (i <= with_lines or line.waiting == 0))
  if is_first then
    append(reply, name, settings)
    append(reply, group.ready, group.working)
    append(reply, group.limited, line.waiting)
    append(reply, line.stopped and line.head or '')
  end
end
return reply
