-- earlier-answers: how a copy of an operator's call gets the same answer.

-- The answer to an earlier copy of an operator's call, nil if none has run; and all notes.
local function earlier_answer(operator_calls, token)
  local notes = redis.call('GET', operator_calls) or ''
  local _, stop = string.find(notes, ' ' .. token .. '=', 1, true)
  return stop and string.match(string.sub(notes, stop + 1), '^%S*'), notes
end

-- Notes the answer to an operator's call. The last 16 are kept until the resend window passes without a call.
-- A full Redis may refuse the note if nothing else was written.
local function note_call(operator_calls, notes, token, answer)
  local _, count = string.gsub(notes, '=', '')
  if count >= 16 then
    notes = string.match(notes, '^ %S+(.*)$')
  end
  redis.pcall('SET', operator_calls, notes .. ' ' .. token .. '=' .. answer, 'PX', int(RESEND_WINDOW))
end
