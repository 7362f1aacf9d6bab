-- states: what becomes of the deliveries to an endpoint. lua/README.md specifies the records.

-- The names of the values of a state, in their order, behind the version of its form.
local STATE_NAMES = {
  'changed', -- the version of the last change that concerns the settings of its group
  'applied', -- the version of the last change that its group has
  'state', -- 'c' closed, 'o' open, 'f' 'g' 'x' disabled
  'since', -- when it began to be so (ms)
  'failing_since', -- when the first delivery failed since the last one that did not (ms); empty: none
  'window', -- when the time began in which deliveries are counted (ms)
  'failed', -- how many failed since
  'succeeded', -- how many did not
  'opens', -- how often the circuit was opened since it was closed
  'until', -- when deliveries are tried again, if it is open (ms)
  'reports', -- the last reports: for each a space, its token, ':' and what it has changed
}

-- How many reports are remembered: more than come between one and its repeat.
local REMEMBERED = 8

-- True for a record that this release must not change: one of a later release.
local function is_later(record)
  return record ~= '' and string.sub(record, 1, 2) ~= '1;'
end

local function parse_state(text)
  local found, at = {}, 0
  for value in string.gmatch(string.sub(text, 2), ';([^;]*)') do
    at = at + 1
    found[STATE_NAMES[at] or at] = value
  end
  return found
end

local function format_state(state)
  local values = { '1' }
  for at, name in ipairs(STATE_NAMES) do
    values[at + 1] = state[name] or ''
  end
  return table.concat(values, ';')
end

-- What an earlier copy of a report has changed; nil if there was none.
local function changed_before(state, token)
  local _, at = string.find(state.reports or '', ' ' .. token .. ':', 1, true)
  return at and string.match(state.reports, '^%a*', at + 1)
end

local function remember_report(state, token, change)
  local reports = state.reports .. ' ' .. token .. ':' .. change
  local _, count = string.gsub(reports, ' ', ' ')
  state.reports = count > REMEMBERED and string.match(reports, ' %S+(.*)') or reports
end

-- A circuit that is closed, and has counted nothing.
local function close_circuit(state, now)
  state.state, state.since, state.failing_since = 'c', int(now), ''
  state.window, state.failed, state.succeeded, state.opens = '0', '0', '0', '0'
  state['until'] = '0'
end

-- The field `~disabled` without an endpoint: those that were disabled because of what they answered, each
-- with the reason.
local function without_disabled(list, id)
  local others = {}
  for one in string.gmatch(list, '%S+') do
    if string.sub(one, 1, #id + 1) ~= id .. ':' then
      append(others, one)
    end
  end
  return table.concat(others, ' ')
end
