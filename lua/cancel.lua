-- cancel: pending | delayed -> rejected (cancelled); working -> working, flagged for its holder. (I1 I3)
local working = KEYS[1] -- zset  id -> lease deadline (ms)
local delayed = KEYS[2] -- zset  id -> due (ms)
local tasks = KEYS[3] -- hash  records and control fields
local expiry = KEYS[4] -- zset  id -> when its record goes away (ms)
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local id = ARGV[2] -- the task's id
local lease = ARGV[3] -- lease number that the task must have; empty for any
-- Returns {'rejected'} | {'working'}: done, now or by an earlier copy
--      or {'not_found'} | {'already_ended'} | {'lease_lost'} | {'newer_schema'}

local found = redis.call('HMGET', tasks, id, '.' .. id, '~ghosts')
local fixed, record, ghosts = found[1], found[2], tonumber(found[3] or 0)
if newer(fixed) or newer(record) then
  return { 'newer_schema' }
end
local options, text = options_of(fixed or '', record)
if not fixed or options.s == 'g' then
  return { 'not_found' }
end
if lease ~= '' and (options.n or '0') ~= lease then
  return { 'lease_lost' }
end
if options.s == 'c' or (options.s == 'r' and options.y ~= 'cancelled') then
  return { 'already_ended' }
elseif options.s == 'r' then
  return { 'rejected' }
end

if options.s == 'w' then
  if not options.f then
    options.f = '1'
    add(options, 'v', 1)
    redis.call('HSET', tasks, '.' .. id, format(options, text))
  end
  return { 'working' }
end

local now = clock(test_now)
local plan = new_plan()
if redis.call('ZREM', delayed, id) == 0 then
  -- In the list, where finding it would take time: the entry stays as a ghost that dequeue drops.
  add(options, 'g', 1)
  plan.fields = { '~ghosts', int(ghosts + 1) }
end
finish(plan, id, options, '', now, 'rejected', 'cancelled')
commit(plan, nil, working, delayed, tasks, expiry, nil)
return { 'rejected' }
