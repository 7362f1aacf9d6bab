/**
 * The model of a queue with partitions: one queue, of which it also knows in which partition each id is. Which partition
 * a call visits is not predicted, so of the order of tasks only that of each group is.
 */
import { deepStrictEqual } from "node:assert/strict";
import { readReceipt } from "../../../../src/kernel/names/receipt.ts";
import * as operate from "../operate.ts";
import type { OperationSettlement } from "../operations.ts";
import { modelRecord } from "../places.ts";
import * as model from "../settle.ts";
import { type ModelTask, QueueState } from "../state.ts";
import { exhausted, forget, takeBack } from "../transitions.ts";
import type { KnownTask, Observation } from "./observation.ts";
import type { NewModelTask } from "./operations.ts";

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
  /** The generated ids of its tasks, by place. */
  readonly ids: (string | undefined)[];
}

export class PartitionsState extends QueueState {
  now: number;
  /** The partition in which an id was seen. */
  readonly partitions = new Map<string, number>();
  /** The slot by which a task was placed; undefined: none. */
  readonly slotsOfTasks = new Map<string, number | undefined>();
  /** The place of a task in its group, if it is known. Equal places are in any order. */
  readonly places = new Map<string, number | undefined>();
  readonly windows = new Map<string, DedupNote>();
  readonly keyed: KeyedCall[] = [];
  /** Receipts that any dequeue returned, the latest last. */
  readonly receipts: string[] = [];
  /** The last lease number of each partition. */
  readonly leases = new Map<number, number>();
  /** Tasks that were delayed before they became ready. */
  readonly late = new Set<string>();
  /** Whether its groups are in strict order. */
  readonly isOrdered: boolean;
  /** Rises with each call, and orders what becomes ready. */
  step = 0;

  constructor(now: number, isOrdered: boolean) {
    super();
    this.now = now;
    this.isOrdered = isOrdered;
  }

  /** When a task is due, its lease ends or its record goes away; 0: never. */
  until({ id }: ModelTask): number {
    return Math.floor(this.delayed.get(id) ?? this.working.get(id) ?? this.expiry.get(id) ?? 0);
  }

  isReady(task: ModelTask): boolean {
    if (task.state === "pending") return true;
    if (this.until(task) > this.now) return false;
    return task.state === "delayed" || (task.state === "working" && !task.flagged && !exhausted(task));
  }

  /** Tasks that have not ended. */
  live(): ModelTask[] {
    return [...this.tasks.values()].filter(({ state }) => ["pending", "delayed", "working"].includes(state));
  }

  /** Takes back an expired lease, or puts a due task in line. */
  fallDue(task: ModelTask): void {
    if (task.state === "working") takeBack(this, [task.id], this.now);
    else if (this.delayed.delete(task.id)) {
      task.state = "pending";
      this.late.add(task.id);
    }
    this.places.set(task.id, this.step);
  }

  /** Makes transitions that any dequeue or sweep may make of tasks that are due, as far as it has made them. */
  follow(after: Observation, canExpire: boolean): void {
    for (const task of this.tasks.values()) {
      const until = this.until(task);
      if (until === 0 || until > this.now) continue;
      const found = after.known.get(task.id)?.[0];
      if (task.state === "working") {
        if (found?.record.token !== task.token) this.fallDue(task);
      } else if (task.state === "delayed") {
        if (!found?.isDelayed) this.fallDue(task);
      } else if (canExpire && found?.until !== until) forget(this, task, this.now);
    }
  }

  /** Settles in order. @returns the answers */
  settle(items: readonly OperationSettlement[]): object[] {
    return items.flatMap((item, i): object[] => {
      const { receipt, outcome } = item;
      const { id, lease, token, place: partition } = readReceipt(receipt, "receipt");
      if (this.partitions.get(id) !== partition) return [{ receipt, ok: false, code: "lease_lost" }];
      const wasWorking = this.tasks.get(id)?.state === "working";
      const answers = model.settle(this, this.now, [{ ...item, id, lease, token }]);
      // Handed back unstarted, it has its old place in its group.
      const place = outcome === "unstarted" ? undefined : this.step + i / 1_000;
      if (wasWorking && this.tasks.get(id)?.state === "pending") this.places.set(id, place);
      return answers;
    });
  }

  /** Cancels a task. @returns the answer */
  cancel(id: string): object {
    const answer = operate.cancel(this, this.now, id);
    const task = this.tasks.get(id);
    // When a ghost is dropped depends on which partitions are visited.
    if (task) task.ghosts = 0;
    return answer;
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

  #difference(task: ModelTask, { partition, until, record }: KnownTask): string[] {
    const before = this.partitions.get(task.id);
    this.partitions.set(task.id, partition);
    if (before !== undefined && before !== partition)
      return [`${task.id} was in partition ${before}, and is in ${partition}`];
    const is = JSON.stringify([until, record]);
    const says = JSON.stringify([this.until(task), modelRecord(task)]);
    return is === says ? [] : [`${task.id} is ${is}, and in the model ${says}`];
  }
}

/** @throws if it does not hold */
export function must(holds: boolean, text: string): asserts holds {
  if (!holds) throw new Error(text);
}

/** @throws if the values differ */
export function mustEqual(what: string, is: unknown, expected: unknown): void {
  deepStrictEqual(
    is,
    expected,
    `${what}: is ${JSON.stringify(is)}, and in the model ${JSON.stringify(expected)}`,
  );
}
