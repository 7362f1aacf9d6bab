-- move-slots: own-slots in the linked edition. If groups may be in strict order, it also notes which slots
-- have changed hands.
local tasks = KEYS[1] -- hash  records and control fields
local version = ARGV[1] -- of the map
local owned = ARGV[2] -- 64 hex digits; see ../partitions/slots.lua
-- Returns {'ok', 1 if the partition had slots under a map or any other field before, else 0}
--      or {'newer_schema'}
--      or {'older', version of the map that was noted already}: nothing has changed

local HEX = '0123456789abcdef'
local NONE = string.rep('0', 64)
local found = redis.call('HMGET', tasks, '~slots', '~set', '~moved')
if newer(found[1]) or newer_settings(found[2]) then
  return { 'newer_schema' }
end
local noted, had = noted_slots(found[1])
if tonumber(noted or 0) > tonumber(version) then
  return { 'older', tonumber(noted) }
end
local used = 1
if tonumber(noted or 0) == 0 and redis.call('HLEN', tasks) == (found[1] and 1 or 0) then
  used = 0
end
local fields, moved = { '~slots', '1;' .. version .. ';' .. owned }, holds.parse_moved(found[3])
if parse_settings(found[2] or nil).o or moved then
  if not moved then
    moved = { lost = NONE, unchecked = NONE, last = 0 }
  end
  local lost, unchecked = {}, {}
  for place = 1, 64 do
    local lost_bits, unchecked_bits = 0, 0
    for bit = 0, 3 do
      local slot = 4 * (place - 1) + bit
      local has, before = holds.has_slot(owned, slot), holds.has_slot(had or NONE, slot)
      if not has and (before or holds.has_slot(moved.lost, slot)) then
        lost_bits = lost_bits + 2 ^ bit
      elseif has and (not before or holds.has_slot(moved.unchecked, slot)) then
        unchecked_bits = unchecked_bits + 2 ^ bit
      end
    end
    lost[place] = string.sub(HEX, lost_bits + 1, lost_bits + 1)
    unchecked[place] = string.sub(HEX, unchecked_bits + 1, unchecked_bits + 1)
  end
  moved.version, moved.lost, moved.unchecked = version, table.concat(lost), table.concat(unchecked)
  append(fields, '~moved', holds.format_moved(moved))
end
redis.call('HSET', tasks, unpack(fields))
return { 'ok', used }
