-- report-deliveries: counts what became of deliveries; opens and closes circuits, disables endpoints. (I3)
local endpoints = KEYS[1] -- hash  endpoint -> record; .<endpoint> -> state; ~version, ~disabled
local test_now = ARGV[1] -- test clock (ms); empty for Redis's own time
local token = ARGV[2] -- letters and digits, others for each call; a repeat has the same
local window = ARGV[3] -- how long deliveries are counted together (ms)
local least = ARGV[4] -- so many of them must have failed to open a circuit,
local share = ARGV[5] -- and so many of a hundred
local pause = ARGV[6] -- how long a circuit is open at first (ms), twice as long each next time
local longest = ARGV[7] -- and at most (ms)
local disable_after = ARGV[8] -- for how long all must have failed to disable an endpoint (ms); '0': never
local items = ARGV -- then for each, at most 500: id, failed, succeeded, gone ('1': it wants no more)
-- Returns {'ok', the number of changes, then for each: what has changed, its state}
--          What has changed: 'opened', 'closed' or 'disabled'; or '' also for one that is disabled or unknown
--      or {'newer_schema'}

local now = clock(test_now)
local fields = { '~version', '~disabled' }
for i = 9, #items, 4 do
  append(fields, '.' .. items[i])
end
local found = redis.call('HMGET', endpoints, unpack(fields))
local version = tonumber(found[1] or 0)
local disabled = found[2] or ''

local function open_circuit(state)
  local length = math.min(tonumber(pause) * 2 ^ math.min(tonumber(state.opens), 30), tonumber(longest))
  state.state, state.since, state.opens = 'o', int(now), int(tonumber(state.opens) + 1)
  state['until'] = int(now + length)
  return 'opened'
end

local function disable(state, reason, id)
  state.state, state.since = reason, int(now)
  disabled = without_disabled(disabled, id) .. ' ' .. id .. ':' .. reason
  return 'disabled'
end

-- Counts deliveries. Returns what that has changed.
local function count(state, id, failed, succeeded)
  local began = tonumber(state.window)
  -- After a jump back of the clock the window begins ahead.
  if now - began >= tonumber(window) or began > now then
    state.window, state.failed, state.succeeded = int(now), '0', '0'
  end
  add(state, 'failed', failed)
  add(state, 'succeeded', succeeded)
  local is_open = state.state == 'o'
  -- Deliveries that end while it is open began before.
  local waits = is_open and now < tonumber(state['until'])
  if failed == 0 then
    if not waits then
      state.failing_since = ''
    end
    if is_open and not waits then
      close_circuit(state, now)
      return 'closed'
    end
    return ''
  end
  if state.failing_since == '' or succeeded > 0 then
    state.failing_since = int(now)
  elseif disable_after ~= '0' and now - tonumber(state.failing_since) >= tonumber(disable_after) then
    return disable(state, 'f', id)
  end
  local all = tonumber(state.failed) + tonumber(state.succeeded)
  if is_open then
    return waits and '' or open_circuit(state)
  elseif
    tonumber(state.failed) >= tonumber(least) and tonumber(state.failed) * 100 >= tonumber(share) * all
  then
    return open_circuit(state)
  end
  return ''
end

local reply, written = { 'ok', version }, {}
for i = 3, #fields do
  local text = found[i] or ''
  if is_later(text) then
    return { 'newer_schema' }
  end
  local state, at = parse_state(text), 4 * i - 3
  local is_enabled = state.state == 'c' or state.state == 'o'
  local earlier = changed_before(state, token)
  local change = earlier or ''
  if is_enabled and not earlier then
    local was_failing = state.failing_since ~= ''
    if items[at + 3] == '1' then
      change = disable(state, 'g', items[at])
    else
      change = count(state, items[at], tonumber(items[at + 1]), tonumber(items[at + 2]))
    end
    remember_report(state, token, change)
    if change ~= '' or was_failing ~= (state.failing_since ~= '') then
      reply[2] = version + 1
    end
    if change ~= '' then
      state.changed = int(version + 1)
    end
    text = format_state(state)
    append(written, fields[i], text)
  end
  append(reply, change, text)
end
if reply[2] > version then
  append(written, '~version', int(reply[2]))
  if disabled ~= (found[2] or '') then
    append(written, '~disabled', disabled)
  end
end
return #written > 0 and store_fields(endpoints, written) or reply
