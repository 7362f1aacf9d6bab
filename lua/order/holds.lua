-- holds: which partition has the turn of a group in strict order, after the group's slot has changed hands.
-- The line of a partition that has not is held: none of its tasks becomes ready. ../order.md specifies the
-- records.

local holds = (function()
  -- The name of a group that is escaped as names are.
  local function unescaped(name)
    return (string.gsub(string.gsub(name, '%%3B', ';'), '%%25', '%%'))
  end

  -- The slot of an escaped name: CRC-16, from the highest bit on. See ../partitions.md.
  local function slot_for(name)
    local text, crc = unescaped(name), 0
    local tag = string.match(text, '{([^}]*)}')
    if tag and tag ~= '' then
      text = tag
    end
    for i = 1, #text do
      local byte = string.byte(text, i, i)
      for bit = 7, 0, -1 do
        local flips = math.floor(crc / 32768) ~= math.floor(byte / 2 ^ bit) % 2
        crc = crc * 2 % 65536
        if flips then
          -- XOR with 0x1021.
          crc = crc + (math.floor(crc / 4096) % 2 == 0 and 4096 or -4096)
          crc = crc + (math.floor(crc / 32) % 2 == 0 and 33 or -31)
        end
      end
    end
    return crc % 256
  end

  -- True if slots, four in each hex digit, have one.
  local function has_slot(slots, slot)
    local place = math.floor(slot / 4) + 1
    local digit = tonumber(string.sub(slots, place, place), 16) or 0
    return math.floor(digit / 2 ^ (slot % 4)) % 2 == 1
  end

  -- `~moved`: the slots that the partition has lost; those that it has got, while it is not known yet whether
  -- others have tasks; and the number of its last hold.
  local function parse_moved(text)
    local version, lost, unchecked, last = string.match(text or '', '^1;(%d+);(%x+);(%x+);(%d+)$')
    return version and { version = version, lost = lost, unchecked = unchecked, last = tonumber(last) } or nil
  end

  local function format_moved(moved)
    return table.concat({ '1', moved.version, moved.lost, moved.unchecked, int(moved.last) }, ';')
  end

  -- True if a line of this group that begins is to be held: the partition does not own its slot any more, or
  -- has just got it.
  local function is_moved(plan, group)
    local moved = plan.moved
    if not moved then
      return false
    end
    local slot = slot_for(group.name)
    return has_slot(moved.lost, slot) or has_slot(moved.unchecked, slot)
  end

  -- Sets the hold of a line; nil: it is not held. `fair-by-group` lists the groups with one.
  local function set_hold(plan, group, hold)
    local line, member = group.line, '~~~' .. group.name
    if hold and not line.hold then
      plan_write(plan, 'ZADD fair_by_group', '0', member)
    elseif line.hold and not hold then
      plan_write(plan, 'ZREM fair_by_group', member)
    end
    line.hold, line.changed, group.changed = hold, true, true
  end

  -- Holds a line that begins, if it is to be held. Returns whether it is.
  local function begin(plan, group)
    local moved = plan.moved
    if not is_moved(plan, group) then
      return false
    end
    -- A number that was never used, so that a late copy of a call for an earlier hold does nothing.
    moved.last = moved.last + 1
    plan_write(plan, 'HSET tasks', '~moved', format_moved(moved))
    set_hold(plan, group, int(moved.last))
    return true
  end

  -- A line that is empty is held no longer, except for a turn: that is of another partition.
  local function end_empty(plan, group)
    local line = group.line
    if line.hold and line.waiting == 0 and not line.head and not string.find(line.hold, ',', 1, true) then
      set_hold(plan, group, nil)
    end
  end

  return {
    begin = begin,
    end_empty = end_empty,
    unescaped = unescaped,
    has_slot = has_slot,
    parse_moved = parse_moved,
    format_moved = format_moved,
    is_moved = is_moved,
    set_hold = set_hold,
  }
end)()

-- A partition that has lost slots may have tasks of groups that wait for their turn, also under generated
-- ids.
slot_names = (function(inner)
  local function name_in(record)
    local group = string.match(record, '^[^\n]*;G=([^;\n]*)')
    return group and '~d:' .. holds.unescaped(group)
  end

  return function(tasks)
    return redis.call('HEXISTS', tasks, '~moved') == 1 and name_in or inner(tasks)
  end
end)(slot_names)
