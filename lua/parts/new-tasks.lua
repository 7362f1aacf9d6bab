-- new-tasks: which tasks of an enqueue are known already, and how a new one begins.

-- The control fields that an enqueue reads beside the tasks' own fields.
local ENQUEUE_FIELDS = { '~set', '~stats', '~ghosts', '~dropped', '~wake', '~slots' }

-- A task that a caller wants to add: the options of its fixed record, and how it is to be added.
-- when, unique: as `enqueue` takes them.
local function new_draft(id, when, unique, fixed, now)
  local draft = parse_fixed(fixed)
  draft.id, draft.fixed, draft.again = id, fixed, unique == 'again'
  draft.window, draft.dedup_key = string.match(unique, '^(%d+) (.*)$')
  local due = tonumber(when ~= '' and when or 0)
  draft.due = string.sub(when, 1, 1) == '+' and now + due or due
  return draft
end

-- The first lines of all that an enqueue must know before it decides, by field.
local function read_for_enqueue(tasks, drafts)
  local names = { unpack(ENQUEUE_FIELDS) }
  for _, draft in ipairs(drafts) do
    append(names, draft.id, draft.dedup_key and '~d:' .. draft.dedup_key)
  end
  return read_first_lines(tasks, names)
end

-- An enqueue, or the part of it that is of one partition.
-- stored: the result of `read_for_enqueue`. each: whether the tasks are of several calls.
local function new_call(plan, drafts, stored, each)
  open_groups(plan, drafts)
  plan.ghosts = 0
  return {
    plan = plan,
    stored = stored,
    each = each,
    answers = {}, -- id -> the answer to its first task, if the tasks are of one call
    makers = {}, -- id -> the token of the call that made it here, if the tasks are of several calls
    windows = {}, -- dedup key -> its value, as this call writes it
    any_ready = false, -- whether a task is ready that this call, or an earlier copy of it, made
    any_resent = false, -- whether an earlier copy of this call made a task
    is_written = false, -- whether the fixed record is stored already, of a lone task
  }
end

-- 1 if the queue has settings that concern enqueues, 0 if not, -1 if they were not read.
local function must_read_settings(plan)
  local settings = plan.settings
  if not settings then
    return -1
  end
  return (settings.max_pending or settings.events or settings.statistics) and 1 or 0
end

-- Returns whether a token is this call's, and whether it is of another call with the same idempotency key.
-- own: this call's token, `<key>.<tasks>` if it has an idempotency key.
local function compare_tokens(token, own)
  local key = string.match(own or '', '^[^.]+%.')
  local reused = token ~= own and key ~= nil and string.sub(token or '', 1, #key) == key
  return token == own, reused
end

-- Looks for the life of a draft's id. Returns true if this call, or an earlier copy of it, made the task,
-- false if another call did, nil if the id is free; what is left of the last life of a free id; and whether
-- another call with the same idempotency key made the task.
local function find_life(call, draft)
  local tasks, stored, id = call.plan.keys.tasks, call.stored, draft.id
  local fixed, token, ended = stored[id], nil, nil
  if not fixed then
    return nil, nil, false
  end
  if fixed ~= '' then
    token = parse_fixed(fixed).producer_token
  end
  if fixed == '' or draft.again then
    local record = redis.call('HGET', tasks, '.' .. id)
    local task = parse(record)
    stored['.' .. id] = record
    if newer(record) then
      stored[id] = record
    elseif task.state == STATE.ghost then
      return nil, task, false
    elseif fixed == '' or task.state == STATE.rejected then
      token, ended = task.producer_token, task
    end
  end
  local is_own, reused = compare_tokens(token, draft.producer_token)
  if ended and draft.again and not is_own then
    stored[id] = redis.call('HGET', tasks, id)
    return nil, ended, reused
  end
  return is_own, nil, reused
end

-- The answer to a draft whose task is not new: as `enqueue` returns it. Nothing for a new one; then what is
-- left of the last life of its id.
local function answer_to(call, draft)
  local now, id, key = call.plan.now, draft.id, draft.dedup_key
  local maker, answered = call.makers[id], call.answers[id]
  if answered and not call.each then
    return answered, nil
  end
  local is_own, old, reused
  if maker then
    is_own, reused = compare_tokens(maker, draft.producer_token)
  else
    -- The id is tested before the dedup key, so that a copy gets the same answer after the key's window.
    is_own, old, reused = find_life(call, draft)
  end
  if newer(call.stored[id]) then
    return ' newer_schema', nil
  elseif reused then
    return ' reused', nil
  elseif is_own == nil then
    local window = key and (call.windows[key] or call.stored['~d:' .. key]) or ''
    local until_at, first = string.match(window, '^(%d+) (.*)$')
    if until_at and tonumber(until_at) > now and first ~= id then
      call.answers[id] = first
      return first, nil
    end
    return nil, old
  end
  call.answers[id] = 0
  if is_own then
    call.any_resent = true
    if draft.due <= now then
      call.any_ready = true
    end
    if key then
      call.windows[key] = int(now + 1) .. ' ' .. id
    end
  end
  return is_own and 1 or 0, nil
end

-- Adds to the plan that a new task begins. old: what is left of the last life of its id.
local function begin_task(call, draft, old)
  local plan, id, later = call.plan, draft.id, draft.due > call.plan.now
  if old or not call.is_written then
    plan_write(plan, 'HSET tasks', id, draft.fixed)
  end
  if old and old.state ~= STATE.ghost then
    plan_write(plan, 'ZREM expiry', id)
    plan_write(plan, 'ZREM dead', id)
  end
  if later then
    plan_write(plan, 'ZADD delayed', score_when_due(draft, draft.due), id)
  elseif old and tonumber(old.ghosts or 0) > 0 and not grouped(draft) then
    -- The ghost of the last life becomes this task's entry in the list.
    add(old, 'ghosts', -1)
    plan.ghosts = plan.ghosts + 1
  else
    make_ready(plan, id, draft, 'back')
  end
  -- A promotion to `fair` reads the changing record, which has no payload.
  local record = first_record(draft.fixed, old, later and grouped(draft))
  if record then
    plan_write(plan, 'HSET tasks', '.' .. id, record)
  elseif old then
    plan_write(plan, 'HDEL tasks', '.' .. id)
  end
  note_event(plan, 'enqueued', id)
  call.answers[id], call.makers[id] = 0, call.each and (draft.producer_token or '') or nil
  if not later then
    call.any_ready = true
  end
  local key = draft.dedup_key
  if key then
    local over = int(plan.now + draft.window)
    call.windows[key] = over .. ' ' .. id
    plan_write(plan, 'HSET tasks', '~d:' .. key, call.windows[key])
    plan_write(plan, 'ZADD expiry', over, '~d:' .. key)
  end
end

-- How many tasks become pending, as planned so far.
local function coming(plan)
  return planned_count(plan, 'LPUSH pending')
    + plan.ghosts
    + (planned_count(plan, 'ZADD fair') + planned_count(plan, 'ZADD limited')) / 2
end

-- Begins the new tasks among these, and fills a reply with the answers. Returns why all of them are refused,
-- if they are.
-- reply: ends before the first answer. keep_out: if given, returns the answer to a new task that is not to
-- begin here. It gets the draft, and what is left of the last life of the id.
local function add_drafts(call, drafts, reply, keep_out)
  local plan = call.plan
  local places = call.each and places_left(plan.settings, plan.keys, call.stored)
  for _, draft in ipairs(drafts) do
    local answer, old = answer_to(call, draft)
    local refusal = type(answer) == 'string' and string.match(answer, '^ (.*)$')
    if refusal and not call.each then
      return refusal
    end
    if answer == nil and keep_out then
      answer = keep_out(draft, old)
      call.answers[draft.id] = answer
    end
    if answer == nil and places and draft.due <= plan.now and coming(plan) >= places then
      answer = ' full'
    elseif answer == nil then
      begin_task(call, draft, old)
      answer = 1
    end
    append(reply, answer)
  end
  local is_full = not places and exceeds_max_pending(plan.settings, plan.keys, call.stored, coming(plan))
  return is_full and 'full' or nil
end

-- Writes the plan of an enqueue. Returns the error if Redis has no room: then nothing has changed.
local function commit_enqueue(call)
  local plan = call.plan
  finish_plan(plan)
  local failed = store_or_undo(plan, call.stored)
  if failed then
    return failed
  end
  commit(plan)
  if plan.ghosts > 0 then
    redis.call('HINCRBY', plan.keys.tasks, '~dropped', int(plan.ghosts))
  end
end
