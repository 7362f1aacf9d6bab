-- slots: which slots of a queue a partition owns. `~slots` is `1;<version of the map>;<64 hex digits>`, four
-- slots in each digit, the lowest first. Without the field a partition owns none.

-- What names the group of a record for which a partition must stay in the map; nil if no group has to.
local function slot_names()
  return nil
end

-- The version of the map in `~slots`, and the slots; nothing if the partition owns none, or Redis lost them.
local function noted_slots(owned)
  return string.match(owned or '', '^1;(%d+);(%x+)$')
end

-- True if an enqueue must go to another partition, because this one does not own all slots of its tasks.
-- owned: its field `~slots`. slots: `<version>:<numbers>`, the version of the producer's map, and slots with
-- commas between; '-' for tasks that any partition may have that owns slots, or did. A partition that has
-- noted a later version may own the slots again, after another partition had them that knows their ids now.
local function has_moved(owned, slots)
  local noted, digits = noted_slots(owned)
  local version, numbers = string.match(slots, '^(%d+):(.*)$')
  if not version then
    -- Redis has lost the partition, and it may be that of no map.
    return slots == '-' and not digits
  elseif not digits or tonumber(noted) > tonumber(version) then
    return true
  end
  for text in string.gmatch(numbers, '%d+') do
    local slot = tonumber(text)
    local place = math.floor(slot / 4) + 1
    local digit = tonumber(string.sub(digits, place, place), 16)
    if not digit or math.floor(digit / 2 ^ (slot % 4)) % 2 == 0 then
      return true
    end
  end
  return false
end
