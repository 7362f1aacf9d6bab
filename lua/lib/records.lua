-- records: reading and writing what stands in the hash `tasks`.

-- What a record means where it fixes nothing itself.
local DEFAULT_MAX_ATTEMPTS = 5

local DEFAULT_RESULT_TTL = 3600000

local DEFAULT_DEAD_TTL = 604800000

-- How many of its last transitions a record keeps.
local HISTORY = 16

-- A fixed record without its headers and payload.
local function first_line(record)
  return string.match(record, '^[^\n]*\n?')
end

-- Field -> the first line of what stands in it, of those that are there. A few at a time, for payloads come
-- along.
local function read_first_lines(tasks, fields)
  local found = {}
  for first = 1, #fields, 128 do
    local last = math.min(first + 127, #fields)
    for i, value in ipairs(redis.call('HMGET', tasks, unpack(fields, first, last))) do
      if value then
        found[fields[first + i - 1]] = first_line(value)
      end
    end
  end
  return found
end

-- True for a record of a later release, which this one must not touch; not for one beyond reading.
local function newer(record)
  local version = string.match(record or '', '^(%d+);')
  return version and version ~= '1'
end

-- Letters whose value is no number.
local TEXTS = '[typhGWOT]'

-- The letter options at the end of a record's first line. A number beyond reading counts as absent.
local function parse_letters(into, letters)
  for letter, value in string.gmatch(letters, ';(%a)=([^;]*)') do
    if string.find(letter, TEXTS) or (#value <= 16 and string.find(value, '^%d+$')) then
      into[letter] = value
    end
  end
  return into
end

-- What a fixed record says, without a copy of its payload.
local function parse_fixed(fixed)
  local enqueued_at, letters = string.match(fixed, '^1;(%d*)([^\n]*)')
  return parse_letters({ e = enqueued_at or '' }, letters or '')
end

-- The lease that a fixed record says, or its first line or letters; else the given one.
local function lease_of(fixed, lease)
  return string.match(fixed, '^[^\n]*;l=(%d+)') or lease
end

-- True for a fixed record that has a payload.
local function sound(fixed)
  return string.find(fixed or '', '^1;%d+[^\n]*\n') ~= nil
end

-- A fixed record as far as its headers go.
local function without_payload(fixed)
  local line = first_line(fixed)
  return string.sub(fixed, 1, #line + (tonumber(parse_fixed(line).h) or 0))
end

-- Nine fields in fixed places, for they change most, then letters.
local CHANGING = '^1;(%d+);(%d*);(%d+);(%d+);(%a?);(%d+);([^;]*);(%d*);(%d*)(.*)$'

-- What a changing record says, and the text behind its first line (a result or an error). Nothing where
-- there is no record, or one beyond reading: the task then begins anew.
local function parse(record)
  local stop = record and string.find(record, '\n', 1, true)
  if not stop then
    return {}, ''
  end
  local v, e, a, c, s, n, k, q, l, letters = string.match(string.sub(record, 1, stop - 1), CHANGING)
  if not v then
    return {}, ''
  end
  local task = { v = v, e = e, a = a, c = c, s = s, n = n, k = k, q = q, l = l }
  if letters ~= '' then
    parse_letters(task, letters)
  end
  return task, string.sub(record, stop + 1)
end

-- The letters of a fixed record that the changing one takes over, in the order of `LETTERS`.
local TAKEN_OVER = { 'm', 'r', 'd', 't', 'G', 'P' }

-- As `parse`; what the task fixed at enqueue is taken over from there once.
local function parse_with(fixed, record)
  local task, text = parse(record)
  if (task.e or '') == '' then
    local first = parse_fixed(fixed)
    task.e = first.e
    for _, letter in ipairs(TAKEN_OVER) do
      task[letter] = first[letter]
    end
    task.v, task.a, task.c = task.v or '1', task.a or '0', task.c or '0'
    task.s, task.n, task.k, task.q, task.l = task.s or '', task.n or '0', '', '', ''
  end
  return task, text
end

-- In the order in which a changing record has them.
local LETTERS =
  { 'x', 'u', 'b', 'z', 'y', 'm', 'r', 'd', 't', 'f', 'g', 'G', 'P', 'S', 'W', 'O', 'T', 'h', 'p' }

-- The changing record of a task.
local function format(task, text)
  local letters = ''
  for i = 1, #LETTERS do
    local value = task[LETTERS[i]]
    if value then
      letters = letters .. ';' .. LETTERS[i] .. '=' .. value
    end
  end
  local fields = { '1', task.v, task.e, task.a, task.c, task.s, task.n, task.k, task.q, task.l }
  return table.concat(fields, ';') .. letters .. '\n' .. text
end

-- Notes a transition: the version rises, and the record's history says what came when (ms since enqueue).
local function transition(task, letter, now)
  add(task, 'v', 1)
  local since = math.max(0, now - (tonumber(task.e) or now))
  task.h = (task.h or '') .. letter .. int(since)
  -- No version, no transition: most tasks never have so many.
  if tonumber(task.v) > HISTORY + 1 then
    local _, length = string.gsub(task.h, '%a', '')
    task.h = length > HISTORY and string.match(task.h, '^%a%d*(.*)$') or task.h
  end
end

-- The record of an id of which no more is known than a state, a version, and its ghosts in the list, if any.
local function bare_record(state, ghosts, version)
  local task =
    { v = version or '1', e = '', a = '0', c = '0', s = state, n = '0', k = '', q = '', l = '', g = ghosts }
  return format(task, '')
end

-- What is left of an id that is to be forgotten: nothing but its ghosts in the list, if any.
local function forget_task(fields, gone, id, task)
  if tonumber(task.g or 0) > 0 then
    append(fields, '.' .. id, bare_record('g', task.g))
    append(fields, id, '')
  else
    append(gone, id, '.' .. id)
  end
end

-- The changing record with which a life begins, where it needs one: to go on from the last life's version and
-- ghosts, or to be looked up.
local function first_record(fixed, old, wanted)
  local ghosts = old and old.g ~= '0' and old.g or nil
  local version = old and old.v and old.s ~= 'g' and int(old.v + 1) or '1'
  local record = (ghosts or version ~= '1' or wanted) and bare_record('', ghosts, version)
  return record and wanted and format(parse_with(fixed, record)) or record
end

-- True where a delivery more would be one too many.
local function exhausted(task)
  local most = tonumber(task.m or DEFAULT_MAX_ATTEMPTS)
  return most > 0 and tonumber(task.c) >= most
end
