-- records: parses and formats the records in the hash `tasks`.

-- The defaults of what a record does not fix itself.
local DEFAULT_MAX_ATTEMPTS = 10

local DEFAULT_RESULT_TTL = 3600000

local DEFAULT_DEAD_TTL = 604800000

-- How many of the last transitions a record keeps.
local HISTORY = 16

-- The first line of a record: a fixed one without its headers and payload.
local function first_line(record)
  return string.match(record, '^[^\n]*\n?')
end

-- Reads fields of `tasks`, and returns the first line of each one that exists, by field. Redis returns
-- payloads too, so it reads a few at a time.
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

-- True for a record of a later release, which this one must not change; not for an unreadable one.
local function newer(record)
  local version = string.match(record or '', '^(%d+);')
  return version and version ~= '1'
end

-- The states of a task, as records have them.
local STATE = {
  waiting = '', -- its place says whether it is pending or delayed
  working = 'w',
  completed = 'c',
  rejected = 'r',
  deleted = 'x', -- the id is still known
  ghost = 'g', -- only ghosts in the list are left of the id
}

-- The letters of a fixed record: README.md says what each holds.
local FIXED_FIELDS = {
  t = 'producer_token',
  l = 'leased_for',
  m = 'max_attempts',
  r = 'result_ttl',
  d = 'dead_ttl',
  U = 'unique_for',
  h = 'headers_length',
  G = 'group',
  P = 'priority',
}

-- The letters of a changing record.
local CHANGING_FIELDS = {
  x = 'expired_leases',
  u = 'requeued_at',
  b = 'requeues',
  z = 'ended_at',
  y = 'reason',
  m = 'max_attempts',
  r = 'result_ttl',
  d = 'dead_ttl',
  t = 'producer_token',
  U = 'unique_for',
  f = 'cancel_requested',
  g = 'ghosts',
  G = 'group',
  P = 'priority',
  S = 'fair_score',
  W = 'worker',
  O = 'progress',
  T = 'progress_calls',
  E = 'errors',
  h = 'history',
  p = 'last_settlement',
}

-- The letters that are not checked as whole numbers, in either kind of record. (`h` is a number in a fixed
-- record, and a text in a changing one.)
local TEXTS = 'typhGWOTE'

-- Reads the letters at the end of a record's first line. An unreadable number counts as absent.
-- names: letter -> the name of its field in `task`.
local function parse_letters(task, letters, names)
  for letter, value in string.gmatch(letters, ';(%a)=([^;]*)') do
    local name = names[letter]
    if name and (string.find(TEXTS, letter, 1, true) or (#value <= 16 and string.find(value, '^%d+$'))) then
      task[name] = value
    end
  end
  return task
end

-- Parses a fixed record, without copying its payload.
local function parse_fixed(fixed)
  local enqueued_at, letters = string.match(fixed, '^1;(%d*)([^\n]*)')
  return parse_letters({ enqueued_at = enqueued_at or '' }, letters or '', FIXED_FIELDS)
end

-- True for a readable fixed record with a payload.
local function has_payload(fixed)
  return string.find(fixed or '', '^1;%d+[^\n]*\n') ~= nil
end

-- A fixed record up to the end of its headers.
local function without_payload(fixed)
  local line = first_line(fixed)
  return string.sub(fixed, 1, #line + (tonumber(parse_fixed(line).headers_length) or 0))
end

-- Parses a changing record. Also returns the text behind its first line (a result or an error). A missing or
-- unreadable record gives an empty table: the task then begins anew.
local function parse(record)
  -- The fields that change most have no letter, only a position. `format` writes them.
  local CHANGING_RECORD = '^1;(%d+);(%d*);(%d+);(%d+);(%a?);(%d+);([^;\n]*);(%d*);(%d*)([^\n]*)'
  local stop = record and string.find(record, '\n', 1, true)
  if not stop then
    return {}, ''
  end
  local version, enqueued_at, attempts, charged, state, number, token, dequeued_at, leased_for, letters =
    string.match(record, CHANGING_RECORD)
  if not version then
    return {}, ''
  end
  local task = {
    version = version,
    enqueued_at = enqueued_at,
    attempts = attempts,
    charged = charged,
    state = state,
    lease_number = number,
    lease_token = token,
    dequeued_at = dequeued_at,
    leased_for = leased_for,
  }
  if letters ~= '' then
    parse_letters(task, letters, CHANGING_FIELDS)
  end
  return task, string.sub(record, stop + 1)
end

-- The changing record of a working task: version, enqueued at, attempts, charged, lease number, lease token,
-- dequeued at, letters, and the history. The history must be the last letter: no settlement is after it.
local WORKING_RECORD = '^1;(%d+);(%d+);(%d+);(%d+);w;(%d+);([^;]*);(%d*);%d*([^\n]*);h=(%w*)\n'

-- As `parse`, for both records. Before its first change, all that is known of a task is its fixed record.
local function parse_with(fixed, record)
  local task, text = parse(record)
  if (task.enqueued_at or '') == '' then
    local first = parse_fixed(fixed)
    task.enqueued_at = first.enqueued_at
    task.max_attempts, task.result_ttl, task.dead_ttl = first.max_attempts, first.result_ttl, first.dead_ttl
    task.producer_token, task.unique_for = first.producer_token, first.unique_for
    task.group, task.priority = first.group, first.priority
    task.version, task.attempts, task.charged = task.version or '1', task.attempts or '0', task.charged or '0'
    task.state, task.lease_number = task.state or STATE.waiting, task.lease_number or '0'
    task.lease_token, task.dequeued_at, task.leased_for = '', '', ''
  end
  return task, text
end

-- The letters of a changing record, those of CHANGING_FIELDS, in their order.
local LETTERS =
  { 'x', 'u', 'b', 'z', 'y', 'm', 'r', 'd', 't', 'U', 'f', 'g', 'G', 'P', 'S', 'W', 'O', 'T', 'E', 'h', 'p' }

-- A changing record from its parts. It alone says where they are; `parse` and WORKING_RECORD read them.
-- letters: those of LETTERS, in their order. text: what is behind the first line.
local function join_record(
  version,
  enqueued_at,
  attempts,
  charged,
  state,
  number,
  token,
  dequeued_at,
  leased_for,
  letters,
  text
)
  return '1;'
    .. version
    .. ';'
    .. enqueued_at
    .. ';'
    .. attempts
    .. ';'
    .. charged
    .. ';'
    .. state
    .. ';'
    .. number
    .. ';'
    .. token
    .. ';'
    .. dequeued_at
    .. ';'
    .. leased_for
    .. letters
    .. '\n'
    .. text
end

-- The changing record of a task.
local function format(task, text)
  -- Redis hashes all bytes of each text that Lua makes: so long letters are put together once.
  local letters, count = {}, 0
  for i = 1, #LETTERS do
    local letter = LETTERS[i]
    local value = task[CHANGING_FIELDS[letter]]
    if value then
      letters[count + 1], letters[count + 2], letters[count + 3] = ';' .. letter, '=', value
      count = count + 3
    end
  end
  return join_record(
    task.version,
    task.enqueued_at,
    task.attempts,
    task.charged,
    task.state,
    task.lease_number,
    task.lease_token,
    task.dequeued_at,
    task.leased_for,
    table.concat(letters),
    text
  )
end

-- The time (ms) since a task was enqueued, as text.
local function since_enqueue(enqueued_at, now)
  return int(math.max(0, now - (tonumber(enqueued_at) or now)))
end

-- Records a transition: raises the version, and adds it to the history with its time (ms since enqueue).
-- what: 'pending', 'delayed', 'working', 'completed', 'rejected' or 'flagged': the first letter is kept.
local function transition(task, what, now)
  add(task, 'version', 1)
  task.history = (task.history or '') .. string.sub(what, 1, 1) .. since_enqueue(task.enqueued_at, now)
  -- Each transition raises the version, so most tasks need no count.
  if tonumber(task.version) > HISTORY + 1 then
    local _, length = string.gsub(task.history, '%a', '')
    task.history = length > HISTORY and string.match(task.history, '^%a%d*(.*)$') or task.history
  end
end

-- The record of an id of which only a state, a version, and perhaps ghosts in the list are known.
-- ended: a task of which also its enqueue and its uniqueness stay known.
local function bare_record(state, ghosts, version, ended)
  local task = { version = version or '1', enqueued_at = '', attempts = '0', charged = '0', state = state }
  task.lease_number, task.lease_token, task.dequeued_at, task.leased_for = '0', '', '', ''
  task.ghosts = ghosts
  if ended then
    task.enqueued_at, task.producer_token, task.unique_for =
      ended.enqueued_at, ended.producer_token, ended.unique_for
  end
  return format(task, '')
end

-- Adds to a write that an id is forgotten. Only its ghosts in the list, if any, stay counted. If the id is
-- unique for longer, a tombstone stays; then the function returns until when (ms).
local function forget_task(fields, removed, id, task, now)
  local known_until = task.unique_for and (tonumber(task.enqueued_at) or 0) + tonumber(task.unique_for)
  if known_until and known_until > now then
    append(fields, '.' .. id, bare_record(STATE.deleted, task.ghosts, task.version, task))
    append(fields, id, '')
    return int(known_until)
  elseif tonumber(task.ghosts or 0) > 0 then
    append(fields, '.' .. id, bare_record(STATE.ghost, task.ghosts))
    append(fields, id, '')
  else
    append(removed, id, '.' .. id)
  end
end

-- The changing record with which a life begins, if it needs one: to continue the version and the ghosts of
-- the last life, or because a promotion reads it (`must_exist`).
local function first_record(fixed, old, must_exist)
  local ghosts = old and old.ghosts ~= '0' and old.ghosts or nil
  local version = old and old.version and old.state ~= STATE.ghost and int(old.version + 1) or '1'
  local record = (ghosts or version ~= '1' or must_exist) and bare_record(STATE.waiting, ghosts, version)
  return record and must_exist and format(parse_with(fixed, record)) or record
end

-- True for a task that is over: completed, rejected, or deleted while its id is still known.
local function has_ended(task)
  local state = task.state
  return state == STATE.completed or state == STATE.rejected or state == STATE.deleted
end

-- True for a task without an attempt left.
local function exhausted(task)
  local most = tonumber(task.max_attempts or DEFAULT_MAX_ATTEMPTS)
  return most > 0 and tonumber(task.charged) >= most
end
