-- records: the records of tasks of a flow have version 2, so that scripts which do not know flows leave them
-- alone. ../flows.md specifies them.

FIXED_FIELDS = (function(inner)
  inner.F, inner.B, inner.D, inner.J = 'flow', 'followers', 'flow_delay', 'node_kind'
  inner.C = 'cancels_at'
  return inner
end)(FIXED_FIELDS)

CHANGING_FIELDS = (function(inner)
  inner.F, inner.B, inner.D, inner.J = 'flow', 'followers', 'flow_delay', 'node_kind'
  inner.Q, inner.K = 'edges', 'kept_for'
  inner.C, inner.N = 'cancels_at', 'cancelled'
  return inner
end)(CHANGING_FIELDS)

LETTERS = (function(inner)
  local letters = { 'F', 'B', 'D', 'J', 'C', 'Q', 'K', 'N' }
  for _, letter in ipairs(inner) do
    letters[#letters + 1] = letter
  end
  return letters
end)(LETTERS)

TEXTS = (function(inner)
  return inner .. 'FBJQCN'
end)(TEXTS)

-- Of version 2 only the records of tasks of flows are known.
newer = (function(inner)
  return function(record)
    return inner(record) and not string.find(record, '^2;[^\n]*;F=')
  end
end)(newer)

parse_fixed = (function(inner)
  -- Each record is parsed several times in a row.
  local last, parsed
  return function(fixed)
    if string.sub(fixed, 1, 2) ~= '2;' then
      return inner(fixed)
    elseif fixed ~= last then
      last, parsed = fixed, inner('1' .. string.sub(first_line(fixed), 2))
    end
    return parsed
  end
end)(parse_fixed)

has_payload = (function(inner)
  return function(fixed)
    return inner(fixed) or string.find(fixed or '', '^2;%d+[^\n]*\n') ~= nil
  end
end)(has_payload)

parse = (function(inner)
  return function(record)
    if record and string.sub(record, 1, 2) == '2;' then
      record = '1' .. string.sub(record, 2)
    end
    return inner(record)
  end
end)(parse)

parse_with = (function(inner)
  return function(fixed, record)
    local task, text = inner(fixed, record)
    if not task.flow and string.sub(fixed, 1, 2) == '2;' then
      local first = parse_fixed(fixed)
      task.flow, task.followers, task.node_kind = first.flow, first.followers, first.node_kind
      task.cancels_at = first.cancels_at
    end
    return task, text
  end
end)(parse_with)

format = (function(inner)
  return function(task, text)
    local record = inner(task, text)
    return task.flow and '2' .. string.sub(record, 2) or record
  end
end)(format)

-- What a task waits for is kept for as long as its record.
forget_task = (function(inner)
  return function(fields, removed, id, task, now)
    append(removed, task.flow and '~p:' .. id or nil)
    return inner(fields, removed, id, task, now)
  end
end)(forget_task)
