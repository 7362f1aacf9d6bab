/** The model beside the real queue: what each call must answer, and what it must leave. */
import { deepStrictEqual } from "node:assert/strict";
import type { LeasedTask, MinuteCounts, TaskInfo, WorkerInfo } from "../../src/index.ts";
import { violations } from "../support/invariants.ts";
import { dequeue, type ModelBatch, type Seen } from "./dequeue.ts";
import { enqueue } from "./enqueue.ts";
import { INVALID_PATHS } from "./invalid.ts";
import { counts, list, statistics, workers } from "./look.ts";
import { cancel, configure, configureGroup, drop, purge, redrive, redriveByIds, remove } from "./operate.ts";
import type { Mishap, Operation, OperationSettlement, OperationWorker, Pull } from "./operations.ts";
import { modelPlaces, realPlaces } from "./places.ts";
import { WINDOW, type Happened, type Real } from "./real.ts";
import { settle, type ModelSettlement } from "./settle.ts";
import { infoOf, QueueState } from "./state.ts";
import { sweep, sweepAll } from "./sweep.ts";
import { wakeAnother } from "./wake.ts";
import { failWorker, heartbeat } from "./workers.ts";

/** The lease of a dequeue that asks for none, ms. */
const DEFAULT_LEASE = 300_000;
/** How many calls of operators are remembered. */
const REMEMBERED = 16;

/** What the model of one run knows beside its queue. */
export class World {
  queue = new QueueState();
  now: number;
  woken = 0;
  /** Receipts that were given out, the last ones. */
  receipts: string[] = [];
  /** Calls that were made, to be made again. */
  readonly calls: Operation[] = [];
  #keys = 0;
  #remembered: { readonly key: string; readonly answer: unknown }[] = [];

  constructor(now: number) {
    this.now = now;
  }

  /** An idempotency key that no call of this run has had. */
  newKey(): string {
    return `call-${++this.#keys}`;
  }

  /** Makes one call on both sides and compares answer and places. */
  async call(real: Real, operation: Operation, by: number, mishap: Mishap): Promise<void> {
    real.now = this.now;
    const happened = await real.run(operation, by, mishap);
    // A fault hits the first request of a call: a sweep's reads the registry.
    const twice = mishap === "reply lost" || mishap === "delivered twice";
    const copies = twice && !(operation.does === "sweep" && !operation.once) ? 2 : 1;
    let expected: unknown;
    const woken = this.woken;
    for (let copy = 1; copy <= copies; copy++) {
      this.woken = woken;
      // A resend says that it is one.
      const resent = copy === 2 && mishap === "reply lost";
      expected = this.#expected(operation, happened, resent);
    }
    deepStrictEqual(this.#normal(operation, happened.answer), expected);
    deepStrictEqual(real.woken, this.woken);
    deepStrictEqual(realPlaces(happened.after), modelPlaces(this.queue));
    deepStrictEqual(violations(happened.after), []);
  }

  #expected(operation: Operation, happened: Happened, resent: boolean): unknown {
    const { queue, now } = this;
    const name = "emails";
    switch (operation.does) {
      case "enqueue": {
        const wake = operation.waker ? WINDOW : undefined;
        const call = { producer: operation.key, look: happened.look, wake };
        const added = enqueue(queue, now, operation.tasks, call);
        if (added === "queue_full") return { refused: "queue_full" };
        if (added.wake) this.woken++;
        return added.tasks;
      }
      case "dequeue":
        return this.#pulled(operation, happened.answer as readonly LeasedTask[], happened, resent);
      case "settle": {
        const settled = settle(queue, now, operation.items.map(settlementOf));
        if (!operation.pull) return settled;
        const { tasks } = happened.answer as { tasks: readonly LeasedTask[] };
        return { settled, tasks: this.#pulled(operation.pull, tasks, happened, resent) };
      }
      case "cancel":
        return cancel(queue, now, operation.id, operation.lease);
      case "remove":
        return remove(queue, now, operation.id);
      case "get":
        return infoOf(queue, name, operation.id);
      case "redrive":
        return { redriven: redrive(queue, now, operation), refused: [] };
      case "redriveIds":
        return redriveByIds(queue, now, operation.ids);
      case "purge":
        return { purged: purge(queue, now, operation) };
      case "configure":
        this.#once(operation.key, () => configure(queue, now, operation.changes));
        return queue.settings;
      case "pause":
      case "resume":
        this.#once(operation.key, () => configure(queue, now, { paused: operation.does === "pause" }));
        return queue.settings;
      case "configureGroup":
        this.#once(operation.key, () => configureGroup(queue, now, operation.group, operation.changes));
        return configureGroup(queue, now, operation.group, {});
      case "drop":
        return this.#once(`drop ${operation.key}`, () => {
          const left = drop(queue, operation.force);
          if (typeof left === "number") return { ok: false, code: "still_working", working: left };
          this.queue = left;
          return { ok: true };
        });
      case "heartbeat":
        return heartbeat(queue, now, { ...signOf(operation.worker), lease: operation.lease });
      case "fail": {
        const { worker } = operation;
        return failWorker(
          queue,
          now,
          typeof worker === "string" ? worker : signOf(worker).worker,
          operation.limit,
        );
      }
      case "sweep": {
        const wake = operation.waker ? WINDOW : undefined;
        if (operation.once) return { ...sweep(queue, now, operation.limit, wake), newer: 0 };
        const idle = { promoted: 0, reclaimed: 0, rejected: 0, expired: 0, more: false, wake: false };
        const swept = happened.registered ? sweepAll(queue, now, operation.limit, wake) : idle;
        const { wake: woken, ...counted } = swept;
        if (woken) this.woken++;
        return { ...counted, more: false, woken: woken ? 1 : 0, failed: [] };
      }
      case "wakeAnother": {
        const woken = wakeAnother(queue, now, WINDOW);
        if (woken) this.woken++;
        return woken;
      }
      case "counts":
        return { ...counts(queue, now, name), ...(this.#sharing && { oldestAge: null, nextDueAt: null }) };
      case "workers":
        return workers(queue);
      case "statistics":
        return { on: queue.settings.statistics, minutes: statistics(queue, now) };
      case "settings":
        return queue.settings;
      case "deepSweep":
        return { faults: [], failed: [] };
      case "list":
        return this.#outOfTurn(operation)
          ? byId(list(queue, name, operation.state, operation))
          : list(queue, name, operation.state, operation);
      case "invalid":
        return { code: "invalid_argument", path: INVALID_PATHS[operation.which] };
    }
  }

  /** What an operator's call came to, now or when an earlier copy of it ran. */
  #once(key: string, make: () => unknown): unknown {
    const known = this.#remembered.find((call) => call.key === key);
    if (known) return known.answer;
    const answer = make();
    this.#remembered = [...this.#remembered, { key, answer }].slice(-REMEMBERED);
    return answer;
  }

  #pulled(pull: Pull, given: readonly LeasedTask[], happened: Happened, resent: boolean) {
    const { before, after } = happened;
    const seen: Seen = {
      given: given.map(({ id }) => id),
      sharing: before.tasks.has("~fair"),
      holding: before.held.size > 0,
      moving: [...before.tasks].some(([field, text]) => field.startsWith("~g:") && /;\d=\d+,\d+,/.test(text)),
      line: after.pending.toReversed(),
    };
    const { max, token, single, worker } = pull;
    const lease = pull.lease ?? DEFAULT_LEASE;
    const call = { max, token, lease, single, resend: pull.flagged || resent };
    const batch = dequeue(this.queue, this.now, { ...call, worker: worker && signOf(worker) }, seen);
    const { nextDueAt } = given as unknown as ModelBatch;
    if (batch.nextDueAt === undefined) this.#notTooLate(nextDueAt, new Set(seen.given));
    const tasks = batch.tasks.map(({ id, attempt, lease: number, deadlineAt }) => {
      const { payload, headers, group, enqueuedAt, fixedLease } = this.queue.task(id);
      const receipt = `1.${attempt}.${number}.${token}.${id}`;
      this.receipts = [...new Set([...this.receipts, receipt])].slice(-24);
      const told = { id, receipt, payload, attempt, enqueuedAt, deadlineAt };
      return { ...told, leasedFor: fixedLease ?? lease, headers, group };
    });
    return {
      tasks,
      nextDueAt: batch.nextDueAt === undefined ? nextDueAt : batch.nextDueAt,
      paused: batch.paused,
    };
  }

  /** Whether groups or priorities are in use: the next of several is then not the model's to tell. */
  get #sharing(): boolean {
    return this.queue.groups.size > 0 || this.queue.shared.length > 0;
  }

  /** A page shows an id where it first stands, which may be where a cancelled life of it stood. */
  #outOfTurn({ state }: Extract<Operation, { does: "list" }>): boolean {
    return state === "pending" && (this.#sharing || this.queue.ghosts > 0);
  }

  /** Who waits must be told of what falls due. */
  #notTooLate(nextDueAt: number | null | undefined, given: ReadonlySet<string>): void {
    const { delayed, working, shared } = this.queue;
    const leases = [...working].filter(([id]) => !given.has(id));
    const due = Math.min(...[...delayed, ...leases].map(([, at]) => Math.max(Math.floor(at), this.now)));
    if ((nextDueAt ?? Number.POSITIVE_INFINITY) > due)
      throw new Error(`next is ${nextDueAt}, and ${due} is due`);
    if (shared.length > 0 && nextDueAt === null)
      throw new Error("tasks wait, and nobody is told to come again");
  }

  /** An answer as far as the model tells it. */
  #normal(operation: Operation, answer: unknown): unknown {
    const pulled = (batch: readonly LeasedTask[]) => ({
      tasks: batch.map(
        ({ id, receipt, payload, attempt, enqueuedAt, deadlineAt, leasedFor, headers, group }) => ({
          ...{ id, receipt, payload, attempt, enqueuedAt, deadlineAt, leasedFor, headers, group },
        }),
      ),
      nextDueAt: (batch as unknown as ModelBatch).nextDueAt,
      paused: (batch as unknown as ModelBatch).paused,
    });
    const told = answer as Record<string, never>;
    switch (operation.does) {
      case "dequeue":
        return pulled(answer as readonly LeasedTask[]);
      case "settle":
        return operation.pull ? { ...told, tasks: pulled(told["tasks"] ?? []) } : answer;
      case "redrive":
      case "redriveIds":
        return { redriven: told["redriven"], refused: told["refused"] };
      case "purge":
        return { purged: told["purged"] };
      case "sweep": {
        const { queues: _, scheduled: __, ...counted } = told;
        return counted;
      }
      case "deepSweep":
        return { faults: told["faults"], failed: told["failed"] };
      case "workers":
        return (told["workers"] as unknown as WorkerInfo[]).toSorted((a, b) =>
          nameOf(a) < nameOf(b) ? -1 : 1,
        );
      case "statistics":
        return { on: told["on"], minutes: (told["minutes"] as unknown as MinuteCounts[]).flatMap(eventful) };
      case "counts":
        return this.#sharing ? { ...told, oldestAge: null, nextDueAt: null } : answer;
      case "list":
        return this.#outOfTurn(operation) ? byId(answer as TaskInfo[]) : answer;
      default:
        return answer;
    }
  }
}

const byId = (tasks: readonly TaskInfo[]) => tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1));

const nameOf = ({ name, incarnation = "" }: WorkerInfo) => `${name} ${incarnation}`;

/** A minute with its events, if there were any. */
function eventful({ startsAt, ...counts }: MinuteCounts): [number, Record<string, number>][] {
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  return found.length > 0 ? [[startsAt, Object.fromEntries(found)]] : [];
}

const signOf = ({ name, incarnation = "", silentAfter }: OperationWorker) => ({
  worker: `${name} ${incarnation}`,
  silentAfter,
});

/** `1.<attempt>.<lease number>.<lease token>.<id>` */
function settlementOf({ receipt, ...rest }: OperationSettlement): ModelSettlement {
  const [, , lease = "", token = "", ...id] = receipt.split(".");
  return { receipt, id: id.join("."), lease: Number(lease), token, ...rest };
}
