import { says, type QueueSpace } from "./key-space.ts";

/** Scores of `limited` below this are of lines: those of groups at a limit are above it. */
const LINES = 2 ** 36;

/** Whether a task waits in the line of its group, by its score in `limited`. */
export const isInLine = (score: number) => score < LINES;

/** A line as its field `~o:<group>` describes it. */
interface Line {
  readonly waiting: number;
  readonly stopped: boolean;
  /** By what it is held; empty if it is not. */
  readonly hold: string;
  readonly head: string;
}

/** What the raw keys of a queue violate of lua/order.md; empty if the lines of its groups are right. */
export function lineViolations({
  fair,
  fairByGroup,
  limited,
  working,
  delayed,
  dead,
  tasks,
}: QueueSpace): string[] {
  const found: string[] = [];
  const groupOf = (id: string) => says(tasks.get(id)?.replace(/^1;\d*/, "1;;;;;;;;;"))["G"] ?? "";
  const lines = new Map<string, Line>();
  for (const [field, text] of tasks) {
    const [, waiting = "", stopped, hold = "", head = ""] =
      /^1;(\d+);\d+;\d+;(s?)(?:h((?:\d+,v?)?\d+))?;(.*)$/.exec(text) ?? [];
    if (field.startsWith("~o:")) {
      if (waiting === "") found.push(`I1 ${field} says ${text}`);
      lines.set(field.slice(3), { waiting: Number(waiting), stopped: stopped === "s", hold, head });
    }
  }

  const waiting = new Map<string, number>();
  const members = new Set<string>();
  for (const [id, place] of limited) {
    if (!isInLine(place)) continue;
    const group = groupOf(id);
    waiting.set(group, (waiting.get(group) ?? 0) + 1);
    members.add(`~${group} ${String(place).padStart(16, "0")} ${id}`);
  }
  for (const [group, { stopped }] of lines) if (stopped) members.add(`~~${group}`);
  for (const [group, { hold }] of lines) if (hold !== "") members.add(`~~~${group}`);
  for (const member of members)
    if (fairByGroup.get(member) !== 0) found.push(`I1 fair-by-group lacks ${member}`);
  for (const member of fairByGroup.keys())
    if (member.startsWith("~") && !members.has(member))
      found.push(`I1 fair-by-group has ${member} for no line`);

  for (const group of new Set([...lines.keys(), ...waiting.keys()])) {
    const line = lines.get(group) ?? { waiting: 0, stopped: false, hold: "", head: "" };
    const counted = waiting.get(group) ?? 0;
    if (line.waiting !== counted)
      found.push(`I1 the line of ${group} has ${counted} and says ${line.waiting}`);
    const { head, hold } = line;
    const isAlive = fair.has(head) || working.has(head) || delayed.has(head) || limited.has(head);
    if (head !== "" && !(line.stopped ? dead.has(head) : isAlive))
      found.push(
        `I1 the head of ${group} is ${head}, which is ${line.stopped ? "no dead letter" : "not alive"}`,
      );
    const others = [...fair.keys(), ...working.keys()].filter((id) => groupOf(id) === group);
    const own = says(tasks.get(`~s:${group}`)?.replace(/^\d/, "1;;;;;;;;;"))["o"];
    const all = says(tasks.get("~set")?.replace(/^\d/, "1;;;;;;;;;"))["o"];
    const isStrict = (own ?? all) === "1";
    if (counted > 0 && head === "" && hold === "" && others.length === 0)
      found.push(`I6 nothing moves the line of ${group}`);
    if (isStrict && head !== "" && others.some((id) => id !== head && working.has(id)))
      found.push(`I2 a task of ${group} works beside its head ${head}`);
  }
  return found;
}
