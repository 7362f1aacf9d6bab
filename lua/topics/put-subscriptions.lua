-- put-subscriptions: writes and removes subscriptions of queues to topics. A deployment changes none that an
-- operator has made. (I3)
local topics = KEYS[1] -- hash  subscriptions, and what else topics.md names
local queue = ARGV[1] -- the queue whose declaration is applied; empty for an operator
local was = ARGV[2] -- `=queue` as the caller read it; empty: none. Of an operator empty
local declared = ARGV[3] -- its new content; empty: none
local most = ARGV[4] -- most fields of the hash
local first = ARGV[5] -- a random version to begin with, so that no list of a lost database counts as current
local items = ARGV -- then for each, at most 200: pair, record (empty: remove it), replay (empty: none)
-- pair: '<queue> <pattern>'; replay: what a new subscription gets of the past
-- Returns {'ok', version of the subscriptions, then for each: 1 if it was there before, 0 if not}
--      or {'changed'} if another declaration of the queue was applied meanwhile
--      or {'full'} if there are too many
--      or {'newer_schema'}

local fields = { '~', '=' .. queue }
for i = 6, #items, 3 do
  append(fields, items[i])
end
local found = redis.call('HMGET', topics, unpack(fields))
local applied = found[2] or ''
if queue ~= '' and applied ~= was and applied ~= declared then
  return { 'changed' }
end
local reply, written, removed, added = { 'ok', 0 }, {}, {}, 0
for i = 3, #fields do
  local pair, current = fields[i], found[i]
  local record, replay = items[3 * i - 2], items[3 * i - 1]
  if current and string.sub(current, 1, 2) ~= '1;' then
    return { 'newer_schema' }
  end
  reply[i] = current and 1 or 0
  if queue == '' or not current or string.sub(current, 3, 3) ~= 'o' then
    if record == '' and current then
      append(removed, pair, '>' .. pair)
    elseif record ~= '' and record ~= current then
      append(written, pair, record)
      added = added + (current and 0 or 1)
      if not current and replay ~= '' then
        append(written, '>' .. pair, replay)
      end
    end
  end
end
local changes = #written + #removed
if added > 0 and redis.call('HLEN', topics) + added > tonumber(most) then
  return { 'full' }
end
if queue ~= '' and applied ~= declared then
  if declared == '' then
    append(removed, fields[2])
  else
    append(written, fields[2], declared)
  end
end
-- What frees memory goes first.
write('HDEL', topics, removed)
local failed = #written > 0 and store_fields(topics, written)
if failed then
  return failed
end
local version = tonumber(found[1] or 0)
if changes > 0 then
  version = redis.call('HINCRBY', topics, '~', found[1] and '1' or first)
end
reply[2] = version
return reply
