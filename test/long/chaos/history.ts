import { nameOfShard, readShardName } from "../../../src/kernel/names/keys.ts";
import { says } from "../../support/key-space.ts";
import { Keys } from "./keys-history.ts";
import { MAX_WORKING, QUEUES } from "./work.ts";

/** One lease of a task, from Redis's own file. */
export interface Lease {
  readonly number: number;
  readonly attempt: number;
  readonly token: string;
  /** When it began, epoch ms of Redis. */
  readonly from: number;
  /** When it ended; infinite if it never did. */
  until: number;
  /**
   * Whether it went to a late copy of a dequeue: after another dequeue had taken the slot of the copy's token, or
   * while the dequeue went on to another partition, of which it got tasks. Both may happen, as docs/guarantees.md says.
   */
  lateCopy: boolean;
  /** How: its holder settled it, or it was taken away because it expired or its worker went silent. */
  end: { readonly outcome: string; readonly state: string } | "taken" | undefined;
}

/** What happened to a task. */
export interface TaskHistory {
  readonly queue: string;
  /** The partition that has its records, such as `plain/3`; `plain/0` also before the queue has partitions. */
  readonly place: string;
  readonly id: string;
  /** What its payload says; undefined if the file has no whole enqueue of it. */
  mark: string | undefined;
  maxAttempts: number;
  readonly leases: Lease[];
  state: "waiting" | "working" | "completed" | "rejected";
  reason: string;
  /** What its last record says: attempts charged, and the result. */
  charged: number;
  result: string;
  endedAt: number;
  /** Each end: of a task of a flow there may be several, as it is redriven. */
  readonly ends: { readonly at: number; readonly state: "completed" | "rejected" }[];
}

export interface History {
  /** By {@link taskKey}. */
  readonly tasks: ReadonlyMap<string, TaskHistory>;
  /** What no correct queue does. */
  readonly faults: readonly string[];
}

/** Whether an id is of a node of a flow. */
export const isOfFlow = (id: string) => /^\w+\{.+@.+\}$/.test(id);

export const taskKey = (queue: string, id: string) => `${queue} ${id}`;

/** A settlement whose state is empty in its record left the task waiting. */
const STATES: Readonly<Record<string, TaskHistory["state"]>> = {
  w: "working",
  c: "completed",
  r: "rejected",
};
const DEFAULT_MAX_ATTEMPTS = 10;

/** Reads what happened to every task, from each command that ever wrote a record. */
export function readHistory(commands: Iterable<readonly string[]>): History {
  const tasks = new Map<string, TaskHistory>();
  const faults: string[] = [];
  const numbers = new Set<string>();
  const slots = new Slots();
  const fronts = new Fronts();
  const keys = new Keys();
  const working = new Map<string, number>();
  const joins = new Set<string>();
  for (const [name = "", key = "", ...rest] of commands) {
    // The end of a script.
    if (/^exec$/i.test(name)) faults.push(...overLimits(working));
    const tag = /^sluice:\{(.+)\}(?:\/0)?:tasks$/.exec(key)?.[1];
    if (tag === undefined || !/^h(?:set|setnx|mset)$/i.test(name)) continue;
    const { queue, place: partition } = readShardName(tag);
    const place = nameOfShard(queue, partition);
    for (const [field, value] of fieldsOf(rest)) {
      if (/^~r\d/i.test(field)) slots.write(`${place} ${field}`, value.split(" ")[0] as string);
      if (field.startsWith("~")) continue;
      const id = field.replace(/^\./, "");
      // Of a flow, what is no task: a place where edges meet.
      if (field === id && isJoin(value)) joins.add(`${place} ${id}`);
      if (joins.has(`${place} ${id}`)) continue;
      const known = tasks.get(taskKey(queue, id));
      const task = known ?? newHistory(place, id, field === id ? value : "");
      const isReplaced = queue === QUEUES.keyed && field === id && known && value !== "";
      if (!known) {
        fronts.enqueued(task);
        faults.push(...keys.enqueued(task).map((fault) => `${queue} ${id}: ${fault}`));
      } else if (isReplaced) {
        faults.push(...keys.replaced(task).map((fault) => `${queue} ${id}: ${fault}`));
        const { mark, maxAttempts } = newHistory(place, id, value);
        Object.assign(task, { mark, maxAttempts });
      }
      tasks.set(taskKey(queue, id), task);
      if (task.place !== place) faults.push(`I1 ${queue} ${id} is in ${task.place} and in ${place}`);
      if (field === id && known && value !== "" && !isReplaced)
        faults.push(`${queue} ${id} was enqueued twice`);
      if (field === id) continue;
      const was = task.state;
      faults.push(...fronts.follow(task, value).map((fault) => `${queue} ${id}: ${fault}`));
      faults.push(...follow(task, value, numbers, slots).map((fault) => `${queue} ${id}: ${fault}`));
      const change = Number(task.state === "working") - Number(was === "working");
      working.set(queue, (working.get(queue) ?? 0) + change);
    }
  }
  for (const lease of [...tasks.values()].flatMap(({ leases }) => leases))
    lease.lateCopy ||= slots.hasLeasedApart(lease.token);
  if (tasks.size === 0) faults.push("the history has no task, so nothing was checked");
  return { tasks, faults };
}

const isJoin = (fixed: string) => /^2;[^\n]*;J=/.test(fixed);

/** What a command writes into a hash: an enqueue that leases its tasks has their changing records in front. */
function fieldsOf(words: readonly string[]): [field: string, value: string][] {
  const all = Array.from({ length: words.length / 2 }, (_, i): [string, string] => {
    const [field = "", value = ""] = words.slice(2 * i);
    return [field, value];
  });
  const isChanging = ([field]: (typeof all)[number]) => field.startsWith(".");
  return [...all.filter((one) => !isChanging(one)), ...all.filter(isChanging)];
}

/** @param working how many tasks of each queue are working */
function overLimits(working: ReadonlyMap<string, number>): string[] {
  return Object.entries(MAX_WORKING).flatMap(([queue, most]) => {
    const count = working.get(queue) ?? 0;
    return count > most ? [`${count} tasks of ${queue} were working at once, of at most ${most}`] : [];
  });
}

function newHistory(place: string, id: string, fixed: string): TaskHistory {
  const [options = "", ...texts] = fixed.split("\n");
  const letter = (name: string) => new RegExp(`;${name}=(\\d+)`).exec(options)?.[1];
  const body = texts.join("\n").slice(Number(letter("h") ?? 0));
  return {
    queue: readShardName(place).queue,
    place,
    id,
    mark: body.startsWith("j") ? (JSON.parse(body.slice(1)) as { mark: string }).mark : undefined,
    maxAttempts: Number(letter("m") ?? DEFAULT_MAX_ATTEMPTS),
    leases: [],
    state: "waiting",
    reason: "",
    charged: 0,
    result: "",
    endedAt: Number.POSITIVE_INFINITY,
    ends: [],
  };
}

/** The tasks that are in front of the groups in strict order. */
class Fronts {
  /** By partition and group, the task that was delivered last. */
  readonly #tasks = new Map<string, TaskHistory>();
  /** In which order the tasks were enqueued. */
  readonly #places = new Map<TaskHistory, number>();

  /** One more record of a task. Returns what is wrong with its place in its group. */
  follow(task: TaskHistory, text: string): string[] {
    if (task.queue !== QUEUES.ordered) return [];
    if (says(text)["s"] !== "w") return [];
    const [, group = ""] = /@(\w+)$/.exec(task.mark ?? "") ?? [];
    const key = `${task.place} ${group}`;
    const before = this.#tasks.get(key);
    this.#tasks.set(key, task);
    if (!before || before === task) return [];
    const faults: string[] = [];
    if (before.state !== "completed" && before.state !== "rejected")
      faults.push(`it was delivered while ${before.id}, in front of ${group}, had not ended`);
    if (this.#placeOf(before) > this.#placeOf(task))
      faults.push(`it was delivered behind ${before.id}, which was enqueued later to ${group}`);
    return faults;
  }

  enqueued(task: TaskHistory): void {
    this.#places.set(task, this.#places.size);
  }

  #placeOf(task: TaskHistory): number {
    return this.#places.get(task) ?? -1;
  }
}

/** The slots that hold the tokens of dequeues until other dequeues take them. */
class Slots {
  readonly #tokens = new Map<string, string>();
  readonly #gone = new Set<string>();
  readonly #again = new Set<string>();
  /** The partitions in which a token has leased tasks. */
  readonly #places = new Map<string, Set<string>>();

  write(slot: string, token: string): void {
    const before = this.#tokens.get(slot);
    if (before !== undefined && before !== token) this.#gone.add(before);
    if (this.#gone.has(token)) this.#again.add(token);
    this.#tokens.set(slot, token);
  }

  /**
   * Notes a lease.
   * @returns whether it went to a late copy of the dequeue with that token
   */
  lease(token: string, place: string): boolean {
    this.#places.set(token, (this.#places.get(token) ?? new Set()).add(place));
    return this.#again.has(token);
  }

  /** Whether copies of the dequeue with that token have leased tasks of several partitions. */
  hasLeasedApart(token: string): boolean {
    return (this.#places.get(token)?.size ?? 0) > 1;
  }
}

/** One more record of the task. Returns what is wrong with it. */
function follow(task: TaskHistory, text: string, numbers: Set<string>, slots: Slots): string[] {
  const faults: string[] = [];
  const record = says(text);
  const [number, attempt] = [Number(record["n"] ?? 0), Number(record["a"] ?? 0)];
  const last = task.leases.at(-1);
  const current = last?.end === undefined ? last : undefined;
  const state = STATES[record["s"] ?? ""] ?? "waiting";
  const ended = task.state === "completed" || task.state === "rejected";
  // Of a flow, what was rejected may be redriven, or blocked again.
  const isAgain = isOfFlow(task.id) && state === "waiting" && task.state === "rejected";
  if (ended && state !== task.state && record["s"] !== "x" && !isAgain)
    faults.push(`it was ${task.state}, then ${state}`);

  if (current && (state !== "working" || current.number !== number)) {
    const [of, token, outcome = ""] = (record["p"] ?? "").split(",");
    const settled = Number(of) === current.number && token === current.token;
    const to = record["p"]?.split(",")[3] ?? "";
    current.end = settled ? { outcome, state: to } : "taken";
    current.until = state === "working" ? Number(record["q"]) : lastTransition(record);
  }
  if (state === "working" && current?.number !== number) {
    const [from, token] = [Number(record["q"]), record["k"] ?? ""];
    task.leases.push({
      number,
      attempt,
      token,
      from,
      until: Number.POSITIVE_INFINITY,
      lateCopy: slots.lease(token, task.place),
      end: undefined,
    });
    if (attempt !== (last?.attempt ?? 0) + 1)
      faults.push(`I4 attempt ${attempt} after ${last?.attempt ?? 0}`);
    if (numbers.has(`${task.place} ${number}`)) faults.push(`I2 lease ${number} was given twice`);
    numbers.add(`${task.place} ${number}`);
  }
  task.state = state;
  task.reason = record["y"] ?? "";
  task.charged = Number(record["c"] ?? 0);
  task.result = text.slice(text.indexOf("\n") + 1);
  if (state === "completed" || state === "rejected") {
    task.endedAt = Number(record["z"]);
    if (!ended) task.ends.push({ at: task.endedAt, state });
  }
  if (task.maxAttempts > 0 && task.charged > task.maxAttempts)
    faults.push(`I5 it is charged ${task.charged} of at most ${task.maxAttempts}`);
  return faults;
}

/** The instant of the transition that led to a record: the last of its history. */
function lastTransition(record: Record<string, string>): number {
  const since = /[a-z](\d+)$/.exec(record["h"] ?? "")?.[1];
  return since === undefined ? Number.NaN : Number(record["e"]) + Number(since);
}
