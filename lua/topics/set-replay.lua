-- set-replay: notes how far a replay has come, if nobody else has continued or replaced it. (I3)
local topics = KEYS[1] -- hash  subscriptions, and what else topics.md names
local pair = ARGV[1] -- '<queue> <pattern>'
local was = ARGV[2] -- the state as the caller read it; empty: none
local state = ARGV[3] -- the new one; empty: it has ended
-- Returns {'ok', the state that is there now}

local field = '>' .. pair
local found = redis.call('HGET', topics, field) or ''
if found == was and found ~= state then
  if state == '' then
    redis.call('HDEL', topics, field)
  else
    redis.call('HSET', topics, field, state)
  end
  found = state
end
return { 'ok', found }
