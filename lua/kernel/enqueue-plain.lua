-- enqueue-plain: nothing -> pending. The common case: tasks for now, without group and priority. (I1 I3 I7)
local pending = KEYS[1] -- list  ids; in at the left, out at the right
local tasks = KEYS[2] -- hash  records and control fields
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local with_settings = ARGV[2] -- '1' to read the queue's settings for one task too; '': only for others
local new = ARGV -- then for each task, at most 490: id, record from options, as in `enqueue`
-- Returns {'ok', 0 if the queue has no settings that concern enqueues, -1 if this call has not read them}:
--          all tasks were created
--      or {'not_plain'}: nothing was written. The queue has such settings, an id is known or given twice, or
--          Redis is full. The caller sends the tasks with `enqueue`

-- How many arguments are in front of the tasks.
local FRONT = 2
local now_text = clock_text(test_now)
if not PLAIN then
  return { 'not_plain' }
elseif #new == FRONT + PLAIN_STRIDE and with_settings ~= '1' then
  local id, record = new[FRONT + 1], new[FRONT + 2]
  local reply = store_alone(tasks, id, record, now_text)
  if reply then
    return reply
  end
  redis.call('LPUSH', pending, id)
  return { 'ok', -1 }
end

local ids, fields = read_plain_tasks(new, FRONT, now_text)
local stored = ids and read_first_lines(tasks, { '~set', unpack(ids) })
if not ids or any_known(stored, ids) or concerns_enqueues(stored['~set'], false) then
  return { 'not_plain' }
end
return put_in_line(pending, tasks, ids, fields) and { 'ok', 0 } or { 'not_plain' }
