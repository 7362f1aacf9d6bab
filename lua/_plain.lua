-- _plain: the plain case of dequeue and settle, in a queue without settings: tasks of neither group, priority
-- nor worker that are delivered for the first time, or complete. What is not plain goes on in
-- `beyond_dequeue` and `beyond_settle`, with all that was taken and read here.

-- False in a build for tests: then nothing is plain.
local PLAIN = true

-- How many settlements a plain settle takes: no command then has more than SLICE arguments.
local PLAIN_SETTLEMENTS = 240

-- What the letters of a fixed record mean for a first lease: the letters that the changing record takes over,
-- and the lease. Nothing for a task of a group or with a priority.
local function terms_of(letters, lease)
  local says, kept = parse_letters({}, letters), ''
  if shared(says) then
    return nil, nil
  end
  for _, letter in ipairs(TAKEN_OVER) do
    if says[letter] then
      kept = kept .. ';' .. letter .. '=' .. says[letter]
    end
  end
  return kept, lease_of(letters, lease)
end

-- Leases the ids that were taken off the list. Returns the reply; nothing where anything is not plain: then
-- nothing is written but what `beyond_dequeue` writes again.
-- reads: what `read_waiting` gave of the first slice of the ids; it adds what it reads.
-- time: gives it, where it is needed; next_due: when more will be in line (ms; 0: nothing known), where too few
-- were.
local function lease_plainly(working, tasks, ids, reads, slot, token, lease, max_bytes, time, next_due)
  local found, first, last = reads[1], 1, slice_end(ids, 1)
  local last_lease, told, set, _, times, _, _, wake = unpack(found, 1, CONTROL)
  local number = tonumber(last_lease or 0)
  local a_copy = told and string.find(told, token, 1, true) == 1
  if set or times or wake or a_copy or not number or refusal(found) then
    return nil
  elseif #ids == 0 then
    return { 'ok', next_due }
  end
  local now = time()
  local deadlines, fields, reply = {}, {}, { 'ok', next_due or now }
  local now_text, most, bytes = int(now), tonumber(max_bytes), 0
  local letters, kept, length, enqueued_at, since = '', '', lease, '', ''
  local deadline = now + tonumber(length)
  local deadline_text = int(deadline)
  for i, id in ipairs(ids) do
    if i > last then
      first, last = i, slice_end(ids, i)
      found = read_waiting(tasks, slot, ids, first, last)
      reads[#reads + 1] = found
    end
    local place = CONTROL + 2 * (i - first) + 1
    local fixed, record = found[place], found[place + 1]
    local e, own_letters = string.match(fixed or '', '^1;(%d+)([^\n]*)\n')
    if record or not e then
      return nil
    end
    if own_letters ~= letters then
      letters = own_letters
      kept, length = terms_of(letters, lease)
      if not kept then
        return nil
      end
      deadline = now + tonumber(length)
      deadline_text = int(deadline)
    end
    if e ~= enqueued_at then
      enqueued_at, since = e, int(math.max(0, now - tonumber(e)))
    end
    number, bytes = number + 1, bytes + #fixed
    if bytes > most and i > 1 then
      return nil
    end
    deadlines[2 * i - 1], deadlines[2 * i] = deadline_text, id
    fields[2 * i - 1] = '.' .. id
    fields[2 * i] = changing_record(
      '2',
      e,
      '1',
      '1',
      'w',
      int(number),
      token,
      now_text,
      length,
      kept .. ';h=w' .. since,
      ''
    )
    give(reply, id, 1, number, deadline, fixed)
  end
  append(fields, '~lease', int(number))
  append(fields, slot, token .. ' ' .. table.concat(ids, ' '))
  -- Fewer where an id stands in line twice.
  if redis.pcall('ZADD', working, unpack(deadlines)) ~= #ids then
    return nil
  end
  return not refusal(redis.pcall('HSET', tasks, unpack(fields))) and reply
end

-- The changing record of a task that works: v, e, a, c, n, k, q, letters and history.
local WORKING = '^1;(%d+);(%d+);(%d+);(%d+);w;(%d+);([^;]*);(%d*);%d*([^\n]*);h=(%w*)\n'

-- Of the letters of a task that works, what matters when it completes: the producer's token as it stands
-- there, and the resultTtl. Nothing where others than those of its fixed record are among them.
local function end_terms(letters)
  local ttl = string.match(letters, ';r=(%d+)') or int(DEFAULT_RESULT_TTL)
  if string.find(letters, ';[^mrdt]') or #ttl > 16 then
    return nil, nil
  end
  return string.match(letters, ';t=[^;]*') or '', ttl
end

-- Completes tasks whose leases are current. Returns the reply; nothing where anything is not plain: then
-- nothing is written but what `beyond_settle` writes again.
-- items: settlements, the first behind place `from`; records: what was read of `settled_fields`.
local function complete_plainly(working, tasks, expiry, items, from, records, now)
  if records[1] or (#items - from) / SETTLEMENT > PLAIN_SETTLEMENTS then
    return nil
  end
  local ids, fields, ends, reply = {}, {}, {}, { 'ok' }
  local now_text, completed = int(now), { 'completed', '', 0, 0 }
  local kept_for, over
  for i = 1, (#items - from) / SETTLEMENT do
    local place = from + SETTLEMENT * (i - 1)
    local id, lease, token, outcome, ms, counted, text = unpack(items, place + 1, place + SETTLEMENT)
    local v, e, a, c, n, k, q, letters, history = string.match(records[i + 2] or '', WORKING)
    if outcome ~= 'complete' or counted ~= '1' or n ~= lease or k ~= token or tonumber(v) > HISTORY then
      return nil
    end
    local own, ttl = end_terms(letters)
    if not own then
      return nil
    end
    ttl = tonumber(ms ~= '' and ms or ttl)
    if ttl ~= kept_for then
      kept_for, over = ttl, int(now + math.max(ttl, RESEND_WINDOW))
    end
    local since = int(math.max(0, now - tonumber(e)))
    local answer = n .. ',' .. k .. ',complete,completed,,0,0'
    local told = ';z=' .. now_text .. own .. ';h=' .. history .. 'c' .. since .. ';p=' .. answer
    ids[i] = id
    append(fields, id, '')
    append(fields, '.' .. id)
    append(fields, changing_record(int(v + 1), e, a, c, 'c', n, '', q, '', told, ttl > 0 and text or ''))
    append(ends, over, id)
    reply[i + 1] = completed
  end
  -- Fewer where a lease is settled twice.
  if
    redis.call('ZREM', working, unpack(ids)) ~= #ids or refusal(redis.pcall('HSET', tasks, unpack(fields)))
  then
    return nil
  end
  redis.call('ZADD', expiry, unpack(ends))
  return reply
end
