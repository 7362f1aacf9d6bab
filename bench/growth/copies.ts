// Copies of tasks, made inside Redis: for sizes to which a queue does not grow by its own calls within minutes.

import type { Transport } from "../../src/index.ts";

/** Of tasks with `COPIES` copies each, a tenth is from the queue's own calls. */
export const COPIES = 9;

/** A generated id begins with a `0`, the first digit of its time; that of a copy with a digit from 1 to 9. */
export const copiedId = (id: string, copy: number) => `${copy}${id.slice(1)}`;

// The instants of the first copies come after those of all tasks, those of the second after these, and so on:
// so no more of them are the same than in a queue without copies.
const SCRIPT = `
local tasks = KEYS[1] -- hash
local places = { unpack(KEYS, 2) } -- zsets, or the list
local ids = { unpack(ARGV, 2) }
local function copied(id, copy)
  return copy .. string.sub(id, 2)
end
local names = {}
for i, id in ipairs(ids) do
  names[2 * i - 1], names[2 * i] = id, '.' .. id
end
local values = redis.call('HMGET', tasks, unpack(names))
for copy = 1, tonumber(ARGV[1]) do
  local fields, new = {}, {}
  for i, id in ipairs(ids) do
    new[i] = copied(id, copy)
    for j = 0, 1 do
      local value = values[2 * i - 1 + j]
      if value then
        fields[#fields + 1] = (j == 0 and '' or '.') .. new[i]
        fields[#fields + 1] = value
      end
    end
  end
  redis.call('HSET', tasks, unpack(fields))
  for _, place in ipairs(places) do
    if redis.call('TYPE', place).ok == 'list' then
      redis.call('LPUSH', place, unpack(new))
    else
      local scores, members = redis.call('ZMSCORE', place, unpack(ids)), {}
      for i, id in ipairs(new) do
        members[2 * i - 1] = string.format('%.0f', tonumber(scores[i]) + 1e10 * copy)
        members[2 * i] = id
      end
      redis.call('ZADD', place, unpack(members))
    end
  end
end
`;

/** Copies the records of tasks and their members of `places`, `COPIES` times. */
export async function copyTasks(
  transport: Transport,
  tasks: string,
  places: readonly string[],
  ids: readonly string[],
): Promise<void> {
  for (let first = 0; first < ids.length; first += 500) {
    const some = ids.slice(first, first + 500);
    const keys = [tasks, ...places];
    const call = ["EVAL", SCRIPT, String(keys.length), ...keys, String(COPIES), ...some] as const;
    const [outcome] = await transport.send([call]);
    if (outcome && "error" in outcome) throw outcome.error;
  }
}
