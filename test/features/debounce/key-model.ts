/** What enqueues with keys promise, as a program without Redis. Times are ms. */
import type { KeyedEnqueueOptions, KeyedOutcome } from "../../../src/features/debounce/types.ts";

interface Task {
  readonly id: string;
  readonly enqueuedAt: number;
  payload: unknown;
  /** How many payloads its list has; 0: it is none. */
  listed: number;
  due: number;
  state: "waiting" | "working" | "again" | "ended";
}

interface Answer {
  readonly outcome: KeyedOutcome;
  /** Undefined for a new task. */
  readonly task: Task | undefined;
}

type Keys = Map<string, Task>;

/** The tasks of a queue, and what its keys know. */
export class KeyModel {
  readonly tasks = new Map<string, Task>();
  readonly #debounced: Keys = new Map();
  readonly #singletons: Keys = new Map();
  readonly #throttled = new Map<string, { turns: number[]; last: Task }>();

  /**
   * Enqueues a task.
   * @param id of the task that was created, if one was
   */
  enqueue(now: number, payload: unknown, options: KeyedEnqueueOptions, id: string): Answer {
    const { debounce, throttle, singleton } = options;
    if (debounce) return this.#debounce(now, payload, debounce, id);
    if (throttle) return this.#throttle(now, payload, throttle, id);
    const due = now + Number(options.delay ?? 0);
    if (singleton) {
      const known = this.#singletons.get(singleton.key);
      const waits = known?.state === "waiting";
      const isInTheWay = waits || (singleton.while === "unfinished" && known && known.state !== "ended");
      if (isInTheWay && singleton.then === "drop") return { outcome: "dropped", task: known };
      if (waits && singleton.then === "replace") return this.#replace(known, payload, due);
      if (isInTheWay && singleton.then === "cancel" && known.state !== "working") known.state = "ended";
      return this.#create(this.#singletons, singleton.key, { id, now, payload, due, listed: 0 });
    }
    const known = this.tasks.get(options.id ?? "");
    if (!known) return this.#create(new Map(), "", { id, now, payload, due, listed: 0 });
    return known.state === "waiting"
      ? this.#replace(known, payload, due)
      : { outcome: "dropped", task: known };
  }

  forget(key: string): void {
    for (const keys of [this.#debounced, this.#singletons, this.#throttled]) keys.delete(key);
  }

  #debounce(
    now: number,
    payload: unknown,
    { key, wait, maxWait, keep = "last" }: NonNullable<KeyedEnqueueOptions["debounce"]>,
    id: string,
  ): Answer {
    const known = this.#debounced.get(key);
    const isList = keep === "all";
    const given = isList ? [payload] : payload;
    const latest = (from: number) => Math.min(now + Number(wait), from + Number(maxWait ?? Infinity));
    if (known?.state !== "waiting")
      return this.#create(this.#debounced, key, {
        id,
        now,
        payload: given,
        due: latest(now),
        listed: isList ? 1 : 0,
      });
    if (known.due > now) known.due = Math.max(now, latest(known.enqueuedAt));
    if (keep === "first") return { outcome: "dropped", task: known };
    if (isList) {
      known.payload = [...(known.listed > 0 ? (known.payload as unknown[]) : [known.payload]), payload];
      known.listed = Math.max(known.listed, 1) + 1;
      return { outcome: "appended", task: known };
    }
    known.payload = payload;
    known.listed = 0;
    return { outcome: "replaced", task: known };
  }

  #throttle(
    now: number,
    payload: unknown,
    { key, most, per, excess }: NonNullable<KeyedEnqueueOptions["throttle"]>,
    id: string,
  ): Answer {
    const period = Number(per);
    const tenth = Math.ceil(period / 10);
    const known = this.#throttled.get(key);
    const turns = known?.turns ?? [];
    const counts = (at: number) =>
      turns.filter((turn) => Math.floor(turn / tenth) >= Math.floor((at - period) / tenth)).length;
    // None passes those that are delayed.
    const from = Math.max(now, ...turns);
    const ends = turns.map((turn) => (Math.floor(turn / tenth) + 1) * tenth + period);
    const free =
      [from, ...ends.toSorted((a, b) => a - b)].find((at) => at >= from && counts(at) < most) ?? from;
    if (excess !== "delay" && free > now) return { outcome: "dropped", task: known?.last };
    const answer = this.#create(new Map(), "", { id, now, payload, due: free, listed: 0 });
    this.#throttled.set(key, { turns: [...turns, free], last: this.tasks.get(id) as Task });
    return answer;
  }

  #replace(task: Task, payload: unknown, due: number): Answer {
    Object.assign(task, { payload, due });
    return { outcome: "replaced", task };
  }

  #create(
    keys: Keys,
    key: string,
    task: Pick<Task, "id" | "payload" | "due" | "listed"> & { now: number },
  ): Answer {
    const { now, ...rest } = task;
    const created: Task = { ...rest, enqueuedAt: now, state: "waiting" };
    this.tasks.set(task.id, created);
    keys.set(key, created);
    return { outcome: "created", task: undefined };
  }
}
