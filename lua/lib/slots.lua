-- slots: which slots of a queue a partition owns. `~slots` is `1;<version of the map>;<64 hex digits>`, four
-- slots in each digit, the lowest first. Without the field partition 0 owns all slots, and others none.

-- True if a partition owns all given slots, and knows no later map than the producer: by that, another partition
-- may have owned them meanwhile.
-- owned: its field `~slots`; slots: '<version of the map>;' and numbers with commas between.
local function owns_slots(owned, slots)
  local noted, digits = string.match(owned or '', '^1;(%d+);(%x+)$')
  local version, numbers = string.match(slots, '^(%d+);(.*)$')
  if not digits or not version or tonumber(noted) > tonumber(version) then
    return false
  end
  for text in string.gmatch(numbers, '%d+') do
    local slot = tonumber(text)
    local place = math.floor(slot / 4) + 1
    local digit = tonumber(string.sub(digits, place, place), 16)
    if not digit or math.floor(digit / 2 ^ (slot % 4)) % 2 == 0 then
      return false
    end
  end
  return true
end

-- True if an enqueue must go to another partition: this one does not own a slot of the call, or the call names
-- no slots, because its producer does not know that the queue has partitions, but has a task with a slot.
-- items: the tasks of the call, each of `stride` arguments, behind `front` others.
local function has_moved(owned, slots, items, front, stride)
  if slots ~= '' then
    return slots ~= '?' and not owns_slots(owned, slots)
  end
  for last = front + stride, #items, stride do
    -- An id that the caller chose, a dedup key and a group have slots.
    if items[last - 1] ~= '' or string.find(items[last], '^[^\n]*;[tG]=') then
      return true
    end
  end
  return false
end
