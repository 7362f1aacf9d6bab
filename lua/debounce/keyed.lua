-- keyed: what enqueues have in common that first look at a key: what is known of the key, of its task and of
-- earlier calls; and how a task changes that has not begun. debounce.md specifies the records of keys.

-- The letters in the record of a key.
local KEY_FIELDS = {
  e = 'enqueued_at', -- of its task: with the id it names one life of the task
  l = 'last_at', -- when the last task has its turn, of a throttled key whose last task was delayed
  r = 'rate', -- of a throttled key: `<most>/<ms>`
  u = 'used', -- of a throttled key, as `measure_rate` takes it
}

-- Parses the record of a key: `1<letters> <id of its task>`, and behind it the calls.
local function parse_key(text)
  local letters, id, calls = string.match(text or '', '^1(%S*) (%S*)(.*)$')
  local key = parse_named(letters, KEY_FIELDS)
  key.id, key.calls = id or '', calls or ''
  return key
end

local function format_key(key)
  local id, calls = key.id, key.calls
  key.id, key.calls = nil, nil
  local letters = format_named(key, KEY_FIELDS)
  key.id, key.calls = id, calls
  return (letters == '' and '1;' or letters) .. ' ' .. id .. calls
end

-- What a call is answered. In the calls of a key only the letter is kept. A call that creates a task is not
-- among them: the task itself has its token. A capital says that the call has made a task ready: its copies
-- ask for the wake again.
local OUTCOMES = {
  r = 'replaced',
  R = 'replaced',
  d = 'dropped',
  D = 'dropped',
  a = 'appended',
  A = 'appended',
}

-- Adds a call to those of a key, the last one first. The oldest ones are dropped beyond so many bytes.
local function remember_call(key, token, letter, id, bytes)
  local calls = ' ' .. token .. '=' .. letter .. id .. key.calls
  local kept = string.match(string.sub(calls, 1, bytes), '^(.*) %S*$')
  key.calls = #calls > bytes and kept or calls
end

-- The answer to an earlier copy of the call: outcome and id; nothing if none is known. Also returns whether
-- another call used the same idempotency key.
local function recall(call)
  local token = call.draft.producer_token
  for earlier, letter, id in string.gmatch(call.key.calls, ' ([^ =]+)=(%a)(%S*)') do
    local is_own, reused = compare_tokens(earlier, token)
    if is_own or reused then
      call.any_ready = string.upper(letter) == letter
      call.any_resent = call.any_ready
      return OUTCOMES[letter], id, reused
    end
  end
  return nil, nil, false
end

-- How a keyed enqueue begins: reads all that it must know. Returns the call, or nothing and the reply if it
-- is refused.
-- field: of the key. when, unique, record: of the task, as `enqueue` takes them. slots: as there, or '?'.
local function open_keyed(keys, test_now, field, id, when, unique, record, slots)
  local now_text = clock_text(test_now)
  local plan = new_plan(keys, tonumber(now_text))
  local draft = new_draft(id, when, unique, '1;' .. now_text .. record, plan.now)
  local names = { unpack(ENQUEUE_FIELDS) }
  append(names, id, field)
  local stored = read_first_lines(keys.tasks, names)
  if newer(stored['~slots']) or newer(stored[field]) then
    return nil, { 'newer_schema' }
  elseif slots ~= '' and slots ~= '?' and has_moved(stored['~slots'], slots) then
    return nil, { 'moved' }
  elseif read_settings(plan, stored['~set'], stored['~stats']) then
    return nil, { 'newer_schema' }
  end
  local call = new_call(plan, { draft }, stored, false)
  call.draft, call.field, call.key, call.leaving = draft, field, parse_key(stored[field]), {}
  return call, nil
end

-- What ends a keyed enqueue: wakes a consumer, writes, and returns the reply.
-- due: when the task is due (ms); 0 if it is ready, or not known.
local function reply_keyed(call, wake, outcome, id, due)
  local plan, stored = call.plan, call.stored
  local reply = { 'ok', must_read_settings(plan), 0, due > plan.now and due or 0, outcome, id }
  if wake ~= '' and call.any_ready and plan_wake(call, { stored['~wake'], stored['~set'] }, wake) then
    reply[3] = 1
  end
  finish_plan(plan)
  local failed = store_or_undo(plan, stored)
  if failed then
    return failed
  end
  for _, left in ipairs(call.leaving) do
    redis.call('ZREM', left.place, left.id)
  end
  commit(plan)
  if plan.ghosts > 0 then
    redis.call('HINCRBY', plan.keys.tasks, '~dropped', int(plan.ghosts))
  end
  return reply
end

-- As `reply_keyed`, and writes the record of the key.
-- keep_until: for how long the key is known at least (ms). bytes: of the calls that it remembers.
local function end_keyed(call, wake, letter, id, due, keep_until, bytes)
  local plan, key = call.plan, call.key
  if letter then
    local noted = call.any_ready and string.upper(letter) or letter
    remember_call(key, call.draft.producer_token, noted, id, bytes or 2000)
  end
  plan_write(plan, 'HSET tasks', call.field, format_key(key))
  plan_write(plan, 'ZADD expiry', int(math.max(keep_until, plan.now + RESEND_WINDOW)), call.field)
  return reply_keyed(call, wake, letter and OUTCOMES[letter] or 'created', id, due)
end

-- Writes what a former partition has done, and leaves the rest to the owner of the key.
local function leave_to_owner(call)
  local reply = reply_keyed(call, '', '', '', 0)
  return reply.err and reply or { 'unknown' }
end

-- The reply to a call that an earlier copy has answered, or whose id is known otherwise; nothing if it is
-- new. Then what is left of the last life of its id, and whether another task has the id.
local function known_keyed(call, wake)
  local draft = call.draft
  local outcome, id, reused = recall(call)
  if reused then
    return { 'reused' }, nil, false
  elseif outcome then
    return reply_keyed(call, wake, outcome, id, 0), nil, false
  end
  local answer, old = answer_to(call, draft)
  if type(answer) == 'string' then
    return { string.sub(answer, 2) }, nil, false
  elseif answer == 1 then
    return reply_keyed(call, wake, 'created', draft.id, draft.due), nil, false
  end
  return nil, old, answer == 0
end

-- Begins the task of a call. Returns the reply if the queue is full.
-- freed: how many pending tasks this call cancels.
local function begin_keyed(call, old, freed)
  local plan, draft = call.plan, call.draft
  begin_task(call, draft, old)
  call.key.id, call.key.enqueued_at = draft.id, int(plan.now)
  local more = draft.due <= plan.now and coming(plan) - freed or 0
  return exceeds_max_pending(plan.settings, plan.keys, call.stored, more) and { 'full' } or nil
end

-- Reads a task whole, and finds its place. Returns nothing if it has ended, or is in another life; then the
-- reply if a later release wrote it.
-- enqueued_at: of its life; nil for any.
local function find_task(call, id, enqueued_at)
  if id == '' then
    return nil, nil
  end
  local keys = call.plan.keys
  local found = redis.call('HMGET', keys.tasks, id, '.' .. id)
  local fixed, record = found[1], found[2]
  if newer(fixed) or newer(record) then
    return nil, { 'newer_schema' }
  elseif not has_payload(fixed) then
    return nil, nil
  end
  local task, text = parse_with(fixed, record)
  if has_ended(task) or (enqueued_at and task.enqueued_at ~= enqueued_at) then
    return nil, nil
  end
  -- If Redis is full, they are written back.
  call.stored[id] = fixed
  call.stored['.' .. id] = record
  local has_begun = task.state ~= STATE.waiting or task.attempts ~= '0'
  local at = { id = id, fixed = fixed, record = record, task = task, text = text, has_begun = has_begun }
  open_groups(call.plan, { task })
  if task.state == STATE.waiting then
    at.place, at.score = keys.delayed, redis.call('ZSCORE', keys.delayed, id)
    for _, place in ipairs({ keys.fair, keys.limited }) do
      if not at.score and grouped(task) then
        at.place, at.score = place, redis.call('ZSCORE', place, id)
      end
    end
    at.due = at.place == keys.delayed and at.score and math.floor(tonumber(finite(at.score))) or 0
  end
  return at, nil
end

-- Adds to the plan that a waiting task leaves its place. In the list it stays as a ghost. Returns how many
-- ghosts the id has then, as text.
local function leave_place(call, at)
  local plan, task = call.plan, at.task
  if at.score then
    if at.place ~= plan.keys.delayed then
      local line = lines.line_of(plan, task)
      if line and line.head == at.id then
        line.head = nil
      end
      refund(plan, at.id, task, at.place, at.score)
      move_up_all(plan)
    end
    append(call.leaving, { place = at.place, id = at.id })
  else
    add(task, 'ghosts', 1)
    plan_write(plan, 'HSET tasks', '~ghosts', int(tonumber(call.stored['~ghosts'] or 0) + 1))
  end
end

-- Adds to the plan that a task which has not begun gets a fixed record, and another place if it needs one: it
-- keeps its place in line unless its group or its priority changes.
-- due: when it is due (ms).
local function change_task(call, at, fixed, due)
  local plan, old, id = call.plan, at.task, at.id
  local new, later = parse_fixed(fixed), due > plan.now
  local in_line = at.place ~= plan.keys.delayed or not at.score
  local same = new.group == old.group and (new.priority or '0') == (old.priority or '0')
  if fixed ~= at.fixed then
    plan_write(plan, 'HSET tasks', id, fixed)
  end
  open_groups(plan, { new })
  if later and not in_line then
    plan_write(plan, 'ZADD delayed', score_when_due(new, due), id)
  elseif later or not (in_line and same) then
    leave_place(call, at)
    if later then
      plan_write(plan, 'ZADD delayed', score_when_due(new, due), id)
    elseif tonumber(old.ghosts or 0) > 0 and not grouped(new) then
      -- Its ghost becomes its entry in the list.
      add(old, 'ghosts', -1)
      plan.ghosts = plan.ghosts + 1
    else
      make_ready(plan, id, new, 'back')
    end
    call.any_ready = call.any_ready or not later
  end
  admit_limited(plan)
  local before = { version = int(tonumber(old.version) - 1), ghosts = old.ghosts, state = STATE.waiting }
  local record = first_record(fixed, before, later and grouped(new))
  if record then
    plan_write(plan, 'HSET tasks', '.' .. id, record)
  elseif at.record then
    plan_write(plan, 'HDEL tasks', '.' .. id)
  end
end

-- The fixed record of a task with the options and the payload of another call. Its enqueue and its producer
-- stay, so that a resend of its enqueue gets the same answer.
local function replaced_record(at, fixed)
  local was, line = parse_fixed(at.fixed), first_line(fixed)
  local token = was.producer_token and ';t=' .. was.producer_token or ''
  local head = string.gsub(string.gsub(line, '^1;%d*', '1;' .. was.enqueued_at), ';t=[^;\n]*', token, 1)
  return head .. string.sub(fixed, #line + 1)
end

-- Adds to the plan that a task gets the options and the payload of the call. Returns the reply if it becomes
-- ready and the queue is full.
local function replace_task(call, at)
  local plan, draft = call.plan, call.draft
  local was_later = at.due > plan.now
  change_task(call, at, replaced_record(at, draft.fixed), draft.due)
  local more = was_later and draft.due <= plan.now and 1 or 0
  return exceeds_max_pending(plan.settings, plan.keys, call.stored, more) and { 'full' } or nil
end

-- Adds to the plan that a task is cancelled, as `cancel` does: one that works is flagged for its holder.
local function cancel_task(call, at)
  local plan, id, task = call.plan, at.id, at.task
  if task.state ~= STATE.working then
    leave_place(call, at)
    end_task(plan, id, task, '', 'rejected', 'cancelled')
    admit_limited(plan)
  elseif not task.cancel_requested then
    task.cancel_requested = '1'
    transition(task, 'flagged', plan.now)
    plan_write(plan, 'HSET tasks', '.' .. id, format(task, at.text))
    note_event(plan, 'cancelRequested', id)
  end
end
