-- plain-lane: the plain case of dequeue and settle: a queue without settings, and tasks without group,
-- priority or worker that are delivered for the first time, or complete. Any other call continues in
-- `dequeue_in_full` and `settle_in_full`, with what was taken and read here.

-- A build for tests sets it to false: then no call is plain.
local PLAIN = true

-- Stores fields in the hash. Returns false if Redis refuses.
local function try_store(tasks, fields)
  return type(redis.pcall('HSET', tasks, unpack(fields))) == 'number'
end

-- Leases the ids that were taken off the list, at most LEASES. Returns the reply; nothing if anything is not
-- plain or Redis refuses. Then nothing stays written.
-- reads: the result of `read_waiting` for the first slice of the ids; the function adds those of the others.
-- most: limit of the bytes of the records; time: returns the time (ms) as text; next_due: when more will be
-- ready (ms; 0: not known), nil if more may be now; more_fields: further fields to store by the same command.
local function lease_plainly(
  working,
  tasks,
  ids,
  reads,
  slot,
  token,
  resend,
  lease,
  most,
  time,
  next_due,
  more_fields
)
  local found, first, last = reads[1], 1, slice_end(ids, 1)
  local last_lease, slot_text, set, _, times, _, _, wake = unpack(found, 1, CONTROL)
  local number = tonumber(last_lease or 0)
  local a_copy = slot_text and string.find(slot_text, token, 1, true) == 1
  local is_awake = wake and select(2, parse_wake(wake)) > 0
  if set or times or a_copy or not number or found.err then
    return nil
  elseif #ids == 0 then
    local spent = { unpack(more_fields or {}) }
    if resend == '1' then
      append(spent, slot, token)
    end
    if is_awake then
      append(spent, '~wake', asleep_text(wake))
    end
    return (#spent == 0 or try_store(tasks, spent)) and { 'ok', next_due } or nil
  end
  local now_text, most_bytes, bytes = time(), tonumber(most), 0
  local now = tonumber(now_text)
  local letters, kept, length, deadline = '', '', lease, now + tonumber(lease)
  local deadline_text, last_enqueued_at, since, number_text, noted = int(deadline), '', '', '', nil
  -- The tables begin with room for one task: a table that grows costs more.
  local deadlines, from = { '', '' }, 0
  local fields
  if more_fields then
    from = #more_fields
    fields = { '~lease', '', slot, '', '', '', unpack(more_fields) }
  else
    fields = { '~lease', '', slot, '', '', '' }
  end
  local reply = { 'ok', next_due or now, '', 0, 0, 0, '' }
  for i = 1, #ids do
    local id = ids[i]
    if i > last then
      first, last = i, slice_end(ids, i)
      found = read_waiting(tasks, slot, ids, first, last)
      reads[#reads + 1] = found
    end
    local place = CONTROL + 2 * (i - first) + 1
    local fixed, record = found[place], found[place + 1]
    if record or not fixed then
      return nil
    end
    local enqueued_at, own_letters = string.match(fixed, '^1;(%d+)([^\n]*)\n')
    number, bytes = number + 1, bytes + #fixed
    if not enqueued_at or (bytes > most_bytes and i > 1) then
      return nil
    end
    if own_letters ~= letters then
      -- A group, a priority, or a number with too many digits is not plain.
      if string.find(own_letters, ';[GP]=') or string.find(own_letters, string.rep('%d', 17)) then
        return nil
      end
      letters, noted = own_letters, nil
      -- What `parse_with` takes over, in the order of LETTERS.
      kept = (string.match(letters, ';m=[^;]*') or '')
        .. (string.match(letters, ';r=[^;]*') or '')
        .. (string.match(letters, ';d=[^;]*') or '')
        .. (string.match(letters, ';t=[^;]*') or '')
        .. (string.match(letters, ';U=[^;]*') or '')
      length = string.match(letters, ';l=(%d+)')
      if not length then
        length = lease
      end
      deadline = now + tonumber(length)
      deadline_text = int(deadline)
    end
    if enqueued_at ~= last_enqueued_at then
      last_enqueued_at, since = enqueued_at, int(math.max(0, now - tonumber(enqueued_at)))
      noted = nil
    end
    if not noted then
      noted = kept .. ';h=w' .. since
    end
    -- As `int`, without its call. Each list grows at its end: an assignment to several would begin with the
    -- last, which costs more.
    number_text = string.format('%.0f', tonumber(number))
    deadlines[2 * i - 1] = deadline_text
    deadlines[2 * i] = id
    -- The first record goes in front of `more_fields`, the others behind them.
    local to = (i > 1 and from or 0) + 2 * i + 3
    fields[to] = '.' .. id
    fields[to + 1] =
      join_record('2', enqueued_at, '1', '1', 'w', number_text, token, now_text, length, noted, '')
    local next = 5 * i - 2
    reply[next] = id
    reply[next + 1] = 1
    reply[next + 2] = number
    reply[next + 3] = deadline
    reply[next + 4] = fixed
  end
  fields[2], fields[4] = number_text, token .. ' ' .. table.concat(ids, ' ')
  if is_awake then
    append(fields, '~wake', awake_text(now, nil, wake))
  end
  -- Redis adds fewer if an id is in the list twice.
  local added = redis.pcall('ZADD', working, unpack(deadlines))
  local leased = added == #ids and try_store(tasks, fields)
  if not leased and type(added) == 'number' then
    redis.pcall('ZREM', working, unpack(ids))
  end
  return leased and reply
end

-- Ends the leases of tasks that complete, and makes their records, which the caller stores. Returns the
-- reply, the fields to store, and the ids; nothing if anything is not plain or Redis refuses. In that case
-- `settle_in_full` must follow: it overwrites all that this function has written.
-- items: settlements, the first after index `from`; records: the values of `~set` and `~stats`, and the
-- tasks' records.
local function complete_plainly(working, expiry, items, from, records, now_text)
  local PLAIN_SETTLEMENTS = 240 -- at most this many: no command then has more than SLICE arguments
  -- What `last_settlement` has behind the proof: outcome, state, reason, due, flag.
  local COMPLETED_NOTE = ',complete,completed,,0,0'
  local count = (#items - from) / SETTLEMENT
  if records[1] or count < 1 or count > PLAIN_SETTLEMENTS then
    return nil, nil, nil
  end
  local ids, fields, ends, reply = { '' }, { '', '', '', '' }, { '', '' }, { 'ok', '' }
  local now, last_enqueued_at, since, last_version, next_version = tonumber(now_text), '', '', '2', '3'
  -- What tasks with the same letters have in common.
  local ended, last_letters, own, ttl, over = ';z=' .. now_text, nil, '', 0, ''
  for i = 1, count do
    local place = from + SETTLEMENT * (i - 1)
    local id, proof, terms, text = unpack(items, place + 1, place + SETTLEMENT)
    local version, enqueued_at, attempts, charged, number, token, dequeued_at, letters, history =
      string.match(records[i + 2] or '', WORKING_RECORD)
    if terms ~= 'complete' or not version then
      return nil, nil, nil
    end
    if number .. ',' .. token ~= proof or tonumber(version) > HISTORY then
      return nil, nil, nil
    end
    if letters ~= last_letters then
      last_letters, own, ttl = letters, ended, DEFAULT_RESULT_TTL
      if letters ~= '' then
        -- A letter that no fixed record has, or a number with too many digits, is not plain.
        if string.find(letters, ';[^mrdtU]') or string.find(letters, string.rep('%d', 17)) then
          return nil, nil, nil
        end
        own = own .. (string.match(letters, ';t=[^;]*') or '') .. (string.match(letters, ';U=%d+') or '')
        ttl = tonumber(string.match(letters, ';r=(%d+)') or ttl)
      end
      over = int(now + math.max(ttl, RESEND_WINDOW))
    end
    if enqueued_at ~= last_enqueued_at then
      last_enqueued_at, since = enqueued_at, int(math.max(0, now - tonumber(enqueued_at)))
    end
    if version ~= last_version then
      last_version, next_version = version, int(version + 1)
    end
    ids[i] = id
    local next = 4 * i
    fields[next - 3] = id
    fields[next - 2] = ''
    fields[next - 1] = '.' .. id
    fields[next] = join_record(
      next_version,
      enqueued_at,
      attempts,
      charged,
      'c',
      number,
      '',
      dequeued_at,
      '',
      own .. ';h=' .. history .. 'c' .. since .. ';p=' .. proof .. COMPLETED_NOTE,
      ttl > 0 and text or ''
    )
    ends[2 * i - 1] = over
    ends[2 * i] = id
    reply[i + 1] = 'completed'
  end
  -- Redis removes fewer if a lease is settled twice.
  if redis.pcall('ZREM', working, unpack(ids)) ~= count then
    return nil, nil, nil
  end
  return type(redis.pcall('ZADD', expiry, unpack(ends))) == 'number' and reply, fields, ids
end

-- Stores the records of completed tasks. Returns false if there is no room for them: then the tasks have not
-- ended.
local function store_completed(tasks, expiry, fields, ids)
  local fine = try_store(tasks, fields)
  if not fine then
    redis.pcall('ZREM', expiry, unpack(ids))
  end
  return fine
end
