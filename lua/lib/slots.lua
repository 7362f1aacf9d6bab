-- slots: which slots of a queue a partition owns. `~slots` is `1;<version of the map>;<64 hex digits>`, four
-- slots in each digit, the lowest first. Without the field partition 0 owns all slots, and others none.

-- True if a partition owns all given slots. owned: its field `~slots`. slots: `<version>:<numbers>`, the
-- version of the producer's map, and slots with commas between. A partition that has noted a later version
-- may own the slots again, after another partition had them that knows their ids now.
local function owns_slots(owned, slots)
  local noted, digits = string.match(owned or '', '^1;(%d+);(%x+)$')
  local version, numbers = string.match(slots, '^(%d+):(.*)$')
  if not digits or tonumber(noted) > tonumber(version) then
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

-- True if an enqueue must go to another partition: this one does not own a slot of the call, or a task has a
-- slot and the call names none, because its producer does not know that the queue has partitions.
-- items: the tasks of the call, each of `stride` arguments, behind `front` others.
local function has_moved(owned, slots, items, front, stride)
  if slots ~= '' then
    return slots ~= '?' and slots ~= '-' and not owns_slots(owned, slots)
  end
  for last = front + stride, #items, stride do
    -- An id that the caller chose, a dedup key and a group have slots.
    if items[last - 1] ~= '' or string.find(items[last], '^[^\n]*;[tG]=') then
      return true
    end
  end
  return false
end
