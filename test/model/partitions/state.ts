/** The model of a queue with partitions: what is known of each id. It knows nothing of partitions but where ids are. */
import type { KnownState, KnownTask, Observation } from "./observation.ts";
import type { NewModelTask } from "./operations.ts";

export const RESEND_WINDOW = 300_000;
export const RESULT_TTL = 1_200_000;
export const DEAD_TTL = 1_800_000;
export const DEFAULT_LEASE = 300_000;

export interface ModelTask {
  readonly id: string;
  /** Which call made it: the same for copies of the call. */
  readonly producer: string;
  readonly asked: NewModelTask;
  readonly enqueuedAt: number;
  state: KnownState;
  hasPayload: boolean;
  attempts: number;
  charged: number;
  expiredLeases: number;
  /** `<lease number>,<token>` of the current lease; "" without one. */
  proof: string;
  /** How long the current lease was given, ms. */
  leasedFor: number;
  /** When it is due, its lease ends or its record goes away; 0: never. */
  until: number;
  isFlagged: boolean;
  /** The partition where it was seen. */
  partition: number;
  /** Its place in the line of its group; undefined if this is not known. Equal places are in any order. */
  place: number | undefined;
  last: { readonly proof: string; readonly outcome: string; readonly answer: object } | undefined;
}

/** Which task has a dedup key, and until when, epoch ms. */
interface DedupNote {
  readonly id: string;
  readonly until: number;
  /** The end of the window of an earlier life of the task, which a former partition may have noted. */
  readonly formerUntil: number;
}

/** A call with an idempotency key, to be sent again. */
export interface KeyedCall {
  readonly key: string;
  readonly tasks: readonly NewModelTask[];
  readonly by: number;
  /** The generated ids of its tasks, by place. */
  readonly ids: (string | undefined)[];
}

export class PartitionsState {
  now: number;
  readonly tasks = new Map<string, ModelTask>();
  readonly dedup = new Map<string, DedupNote>();
  readonly keyed: KeyedCall[] = [];
  /** Receipts that any dequeue returned, the latest last. */
  readonly receipts: string[] = [];
  /** The last lease number of each partition. */
  readonly leases = new Map<number, number>();
  /** Rises with each call, and orders what becomes ready. */
  step = 0;

  constructor(now: number) {
    this.now = now;
  }

  isReady(task: ModelTask): boolean {
    if (task.state === "pending") return true;
    if (task.until > this.now) return false;
    if (task.state === "delayed") return true;
    return task.state === "working" && !task.isFlagged && !isExhausted(task);
  }

  /** Tasks that have not ended. */
  live(): ModelTask[] {
    return [...this.tasks.values()].filter(({ state }) => ["pending", "delayed", "working"].includes(state));
  }

  /** Makes a task ready, at the back of its group. */
  ready(task: ModelTask, place = this.step): void {
    task.state = "pending";
    task.until = 0;
    task.place = place;
  }

  /** Ends a task. @param ttl how long to keep its record, ms */
  end(task: ModelTask, state: "completed" | "rejected" | "cancelled", ttl: number): void {
    task.state = state;
    task.proof = "";
    task.isFlagged = false;
    task.hasPayload = state === "rejected" && ttl > 0;
    task.until = this.now + Math.max(ttl, RESEND_WINDOW);
  }

  /** Takes back an expired lease. */
  reclaim(task: ModelTask): void {
    task.proof = "";
    task.expiredLeases++;
    if (task.isFlagged) this.end(task, "cancelled", 0);
    else if (isExhausted(task)) this.end(task, "rejected", DEAD_TTL);
    else this.ready(task);
  }

  /** Forgets a task whose record has expired. A tombstone stays while its id is unique. */
  forget(task: ModelTask): void {
    const uniqueUntil = task.enqueuedAt + (task.asked.unique ?? 0);
    if (task.state !== "tombstone" && task.asked.unique !== undefined && uniqueUntil > this.now) {
      Object.assign(task, { state: "tombstone", hasPayload: false, until: uniqueUntil });
      Object.assign(task, { attempts: 0, charged: 0, expiredLeases: 0 });
    } else this.tasks.delete(task.id);
  }

  /** Makes transitions that any dequeue or sweep may make of tasks that are due, as far as it has made them. */
  follow(after: Observation, canExpire: boolean): void {
    for (const task of this.tasks.values()) {
      if (task.until === 0 || task.until > this.now) continue;
      const found = after.known.get(task.id)?.[0];
      if (task.state === "working") {
        if (found?.proof !== task.proof) this.reclaim(task);
      } else if (task.state === "delayed") {
        if (found?.state !== "delayed") this.ready(task);
      } else if (canExpire && (!found || found.state !== task.state)) this.forget(task);
    }
  }

  /** Compares with the keys. */
  differences(after: Observation): string[] {
    const found: string[] = [];
    for (const [id, places] of after.known) {
      const task = this.tasks.get(id);
      if (!task) found.push(`${id} is ${JSON.stringify(places)}, and unknown in the model`);
      else for (const place of places) found.push(...this.#difference(task, place));
    }
    for (const id of this.tasks.keys()) if (!after.known.has(id)) found.push(`${id} is lost`);
    return found;
  }

  #difference(task: ModelTask, known: KnownTask): string[] {
    const { partition } = known;
    if (task.partition >= 0 && task.partition !== partition) {
      return [`${task.id} was in partition ${task.partition}, and is in ${partition}`];
    }
    task.partition = partition;
    const { state, hasPayload, attempts, charged, expiredLeases, proof, until, isFlagged } = task;
    const expected: KnownTask = {
      partition,
      state,
      hasPayload,
      attempts,
      charged,
      expiredLeases,
      proof,
      until,
      isFlagged,
    };
    const [is, says] = [JSON.stringify(known), JSON.stringify(expected)];
    return is === says ? [] : [`${task.id} is ${is}, and in the model ${says}`];
  }
}

export function isExhausted({ asked, charged }: ModelTask): boolean {
  const { maxAttempts = 10 } = asked;
  return maxAttempts > 0 && charged >= maxAttempts;
}

/** @throws if it does not hold */
export function must(holds: boolean, text: string): asserts holds {
  if (!holds) throw new Error(text);
}

/** @throws if the values differ */
export function mustEqual(what: string, is: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(is), JSON.stringify(expected)];
  must(one === other, `${what}: is ${one}, and in the model ${other}`);
}
