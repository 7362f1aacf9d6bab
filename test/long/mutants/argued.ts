import type { Generated } from "./generate.ts";
import { linesOf } from "./anchor.ts";

/**
 * Generated mutants that no test can distinguish from the original, by file: what `keyOf` gives for each, and the
 * argument.
 */
export const argued: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "lua/parts/due.lua": {
    "one more: local plan, ids, names, from = new_plan(keys, now), {}, {}, times.reset_from or 1":
      "the numbers of groups begin at 1",
  },
  "lua/operate/pages.lua": {
    "one more: slice = math.max(2, math.min(128, math.floor((LOOK_BYTES - bytes) / (bytes / done + 1))))":
      "how many entries are read at once shows in no answer",
    "swap two writes: plan_write(plan, 'HSET tasks', '.' .. id, format(task, '')) plan_write(plan, 'HSET tasks', id, '')":
      "both are fields of one HSET",
  },
  "lua/repair/repair.lua": {
    "< becomes <=: if deadline <= 0 or deadline > repair.now + LONGEST then":
      "no lease ends at the epoch, and one that does is over",
    "one more: if tonumber(task.lease_number) > (repair.lease or 1) then":
      "a counter that is no number is repaired with the control fields, in the same pass",
  },
  "lua/repair/repair-entries.lua": {
    "one more: slice = math.max(2, math.min(SLICE / 2 - 1, math.floor(READ_BYTES * #entries / (bytes + 1))))":
      "how many entries are read at once shows in no answer",
  },
  "lua/parts/settle-in-full.lua": {
    "one more: return { 'lost', '', 0, 1 }": "the flag of a lost lease has no reader",
  },
  "lua/operate/fail-worker.lua": {
    "one more: local reply = { 'ok', 0, 1, 0, 0 }": "every number of it is set before it is returned",
  },
  "lua/operate/redrive.lua": {
    "one more: local before = math.min(tonumber(wanted.ended_before or began + 2), began + 1)":
      "the lesser of the two is taken",
  },
  "lua/repair/check.lua": {
    "one more: local cursor, size, bytes, records = '0', FIRST_PAGE, 1, 0": "one byte of a bound of many",
    "one more: records = records + (string.sub(field, 1, 1) ~= '~' and 1 or 1)":
      "the few control fields count towards a bound of many records",
  },
  "lua/repair/place-lost.lua": {
    "> becomes >=: if dropped >= 0 then": "a counter that is absent or 0 means the same",
  },
  "lua/schedules/run-schedules.lua": {
    "one more: local size = stop > 1 and tonumber((string.match(line, ';h=(%d+)')))":
      "a line without a character has no size either",
  },
  "src/drain/drain-loop.ts": {
    "one more: #nextStepAt = 1;": "both are before the first step",
  },
  "src/kernel/record/byte-length.ts": {
    "<= becomes <: return most < limit ? most : encoder.encode(text).length;":
      "at the limit itself the upper bound and the exact length are both within it",
  },
  "src/kernel/record/not-json.ts": {
    "> becomes >=: if (levels.length >= MAX_DEPTH) problem = TOO_DEEP;": "99,999 levels in place of 100,000",
  },
  "src/kernel/record/read-record.ts": {
    "|| becomes &&: if (!/^[12];/.test(record) && stop < 0) {":
      "the scripts return no record of another version; one without a second line has no payload either",
  },
  "src/kernel/options/span.ts": {
    "one more: const rest = next ? Math.floor((ms % unit) / next[0]) : 1;":
      "without a next unit it is not shown",
  },
  "src/features/partitions/turns.ts": {
    "one more: if (nextDueAt > 1 && nextDueAt <= this.#now) continue;": "no task is due at 1 ms of the epoch",
  },
  "src/features/repair/deep-pass.ts": {
    "&& becomes ||: if (groups.size > 0 || !this.#hasNewer) await this.#recountGroups(groups);":
      "the recount has the same guards",
  },
  "src/features/schedules/schedule-record.ts": {
    'one more: createdAt: numberOf("s") ?? 1,': "every record of a schedule says when it was made",
    "one more: export function nextOccurrence({ rhythm, until, lastAt = -2 }: Plan, now: number): number {":
      "the later of it and now is taken",
  },
  "src/sweep/registry.ts": {
    '< becomes <=: const isIdle = name.includes("/") && (score <= 0 || score > now);':
      "no note is of the epoch itself",
  },
  "src/features/partitions/add.ts": {
    "> becomes >=: if (map.former.length >= 0) {": "then it loops over no former partition",
  },
  "src/transports/resp-cluster.ts": {
    "one more: const MOST_REDIRECTIONS = 6;": "a chain of that many redirections is of a broken cluster",
  },
  "src/transports/subscribe-upstash.ts": {
    'drop a write: signal.removeEventListener("abort", close);':
      "the signal is of this try alone, and ends with it",
  },
};

/** The rule and the changed line, or the line that is dropped. */
export function keyOf({ rule, edit }: Generated): string {
  const { before, after } = linesOf(edit);
  const shown = rule.startsWith("drop") ? before : after;
  return `${rule}: ${shown.trim().replaceAll(/\s+/g, " ")}`;
}

/** Why no test notices a mutant, if the list has it. */
export const argumentFor = (one: Generated): string | undefined => argued[one.edit.source.file]?.[keyOf(one)];
