/** The state of the model and of the real queue in one form: the place of each id, and its record. */
import { controlFields, says, type QueueSpace } from "../../support/key-space.ts";
import { keyNoteOf, keyNotes } from "./keys/key.ts";
import type { ModelState, ModelTask, QueueState } from "./state.ts";

const LETTERS: Readonly<Record<ModelState, string>> = {
  pending: "",
  delayed: "",
  blocked: "",
  working: "w",
  completed: "c",
  rejected: "r",
  removed: "x",
  ghost: "g",
};

const sorted = <T>(members: Iterable<readonly [string, T]>) =>
  [...members].toSorted(([a], [b]) => (a < b ? -1 : 1));

const EVENTS = {
  pending: "p",
  delayed: "d",
  blocked: "b",
  working: "w",
  completed: "c",
  rejected: "r",
  cancelRequested: "f",
} as const;

/** What a task's record holds beside its state; nothing for an id that is forgotten or removed. */
function modelDetails(task: ModelTask) {
  if (task.state === "ghost" || task.state === "removed") return "";
  const { dequeuedAt, requeuedAt, endedAt, requeues, worker, leasedFor, progress, text } = task;
  const json = (value: unknown) => (value === undefined ? "" : JSON.stringify(value));
  const history = task.history.map(({ to, at }) => `${EVENTS[to]}${at - task.enqueuedAt}`).join("");
  const times = [dequeuedAt, requeuedAt, endedAt].map((at) => at ?? 0);
  return [...times, requeues, worker ?? "", leasedFor ?? 0, json(progress), json(text), history].join(" ");
}

/** Restores `;` and `%`. */
const unescaped = (field: string) => field.replaceAll("%3B", ";").replaceAll("%25", "%");

/** A stored value, in the JSON that JavaScript writes. */
function jsonOf(kept: string): string {
  if (kept === "") return "";
  const rest = kept.slice(1);
  return JSON.stringify(
    kept.startsWith("b") ? Uint8Array.from(Buffer.from(rest, "base64")) : JSON.parse(rest),
  );
}

function realDetails(record: string, said: Readonly<Record<string, string>>) {
  if (said["s"] === "g" || said["s"] === "x") return "";
  const number = (letter: string) => Number(said[letter] ?? 0);
  const times = ["q", "u", "z"].map(number);
  const text = record.slice(record.indexOf("\n") + 1);
  const [progress, worker, history] = ["O", "W", "h"].map((letter) => unescaped(said[letter] ?? ""));
  const values = [progress, text].map((value = "") => jsonOf(value));
  return [...times, number("b"), worker, number("l"), ...values, history].join(" ");
}

/**
 * Control fields that remember calls, keys and failed workers. If they stay too long they fill the memory.
 */
const NOTES = /^~(?:[rR]\d|[dfwDTSI]:)/;

/** The content of the {@link NOTES}; of workers only whether there is any. */
function modelNotes(queue: QueueState): Record<string, string> {
  const { slots, dedup, lost, workers } = queue;
  const notes = keyNotes(queue);
  for (const [slot, { token, ids }] of slots) notes[`~${slot}`] = [token, ...ids].join(" ");
  for (const [key, { until, id }] of dedup) notes[`~d:${key}`] = `${until} ${id}`;
  for (const worker of lost.keys()) notes[`~f:${worker}`] = "";
  for (const [worker, { seenAt }] of workers) if (seenAt !== undefined) notes[`~w:${worker}`] = "";
  return notes;
}

function realNotes(space: QueueSpace): Record<string, string> {
  const fields = Object.entries(controlFields(space, NOTES));
  const noteOf = (field: string, text: string) =>
    /^~[fw]/.test(field) ? "" : /^~[DTSI]/.test(field) ? keyNoteOf(text) : text;
  return Object.fromEntries(fields.map(([field, text]) => [field, noteOf(field, text)]));
}

/** A task that is forgotten may have no record, or a minimal one. */
const FORGOTTEN = { version: 1, attempt: 0, charged: 0, lease: 0, expired: 0 };

/** A task's record in the model. */
export function modelRecord(task: ModelTask) {
  const { version, attempt, charged, lease, expired } = task.state === "ghost" ? FORGOTTEN : task;
  return {
    kept: task.kept,
    state: LETTERS[task.state],
    reason: task.reason ?? "",
    version,
    attempt,
    charged,
    lease,
    token: task.token ?? "",
    expired,
    ghosts: task.ghosts,
    flagged: task.state === "working" && task.flagged,
    details: modelDetails(task),
  };
}

/** The same of an id in Redis. */
export function realRecord({ tasks }: QueueSpace, id: string): ReturnType<typeof modelRecord> {
  const changing = tasks.get(`.${id}`) ?? "";
  const record = says(changing);
  const number = (letter: string, otherwise = 0) => Number(record[letter] ?? otherwise);
  return {
    kept: (tasks.get(id) ?? "") !== "",
    state: record["s"] ?? "",
    reason: record["y"] ?? "",
    version: number("v", 1),
    attempt: number("a"),
    charged: number("c"),
    lease: number("n"),
    token: record["k"] ?? "",
    expired: number("x"),
    ghosts: number("g"),
    flagged: record["f"] === "1",
    details: realDetails(changing, record),
  };
}

/** The state of the model. */
export function modelPlaces(queue: QueueState) {
  const timer: [string, number][] = queue.alarm === undefined ? [] : [["~w", queue.alarm]];
  return {
    line: queue.line,
    grouped: queue.grouped.toSorted(),
    working: sorted(queue.working),
    delayed: sorted([...queue.delayed, ...timer]),
    expiry: sorted(queue.expiry),
    dead: sorted(queue.dead),
    workers: sorted(Array.from(queue.workers, ([name, { silentAt }]) => [name, silentAt] as const)),
    schedules: sorted(Array.from(queue.schedules, ([name, { next }]) => [name, next] as const)),
    lease: queue.lease,
    wake: queue.wake ? `${queue.wake.sent} ${queue.wake.until} ${queue.wake.window}` : "",
    notes: modelNotes(queue),
    tasks: sorted(Array.from(queue.tasks, ([id, task]) => [id, modelRecord(task)] as const)),
  };
}

/** The state in Redis. */
export function realPlaces(space: QueueSpace): ReturnType<typeof modelPlaces> {
  const ids = new Set<string>();
  for (const field of space.tasks.keys()) if (!field.startsWith("~")) ids.add(field.replace(/^\./, ""));
  const timersOfGroups = ([member]: readonly [string, number]) => !member.startsWith("~g:");
  return {
    line: space.pending.toReversed(),
    grouped: [...space.fair.keys(), ...space.limited.keys()].toSorted(),
    working: sorted(space.working),
    delayed: sorted([...space.delayed].filter(timersOfGroups)),
    expiry: sorted(space.expiry),
    dead: sorted(space.dead),
    workers: sorted(space.workers),
    schedules: sorted(space.schedules),
    lease: Number(space.tasks.get("~lease") ?? 0),
    wake: space.tasks.get("~wake") ?? "",
    notes: realNotes(space),
    tasks: sorted(Array.from(ids, (id) => [id, realRecord(space, id)] as const)),
  };
}
