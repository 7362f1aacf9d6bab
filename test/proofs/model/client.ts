/** Each operation as a call of the library. */
import {
  deepSweep,
  Operator,
  Queue,
  Schedules,
  sweep,
  type NewTask,
  type OnDeadLetter,
  type Settlement,
  type Transport,
} from "../../../src/index.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { reportExpired } from "../../../src/kernel/record/dead-letter.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import type { Store } from "../../../src/kernel/store.ts";
import { lastReply } from "../../../src/kernel/scripts/replies.ts";
import { sweepScript } from "../../../src/kernel/scripts/sweep-scripts.ts";
import { enqueueNew } from "./hand-over.ts";
import { INVALID } from "./invalid.ts";
import { KEYED_CALLS } from "./keys/keyed-calls.ts";
import { StepwiseDeepSweep } from "./stepwise-deep-sweep.ts";
import type { Of, Operation, OperationSettlement, Pull } from "./operations.ts";

/** For how long a wake counts, ms. */
export const WINDOW = 5_000;

/** How many calls of one kind are under way at once. */
const AT_ONCE = 16;

export interface ClientOptions {
  /** The name of the queue. */
  readonly name: string;
  readonly transport: Transport;
  readonly now: () => number;
  /** Called for each wake of a consumer. */
  readonly wake: () => void;
  readonly onDeadLetter: OnDeadLetter;
}

/** One function instance. */
export class Client {
  readonly options: ClientOptions;
  readonly wake: { readonly wake: () => void; readonly window: number };
  readonly queue: Queue;
  /** The same queue, with enqueues that wake consumers. */
  readonly waking: Queue;
  /** The same queue, which dequeues only what is ready. */
  readonly ready: Queue;
  readonly operator: Operator;
  /** The same operator, whose calls wake consumers. */
  readonly wakingOperator: Operator;
  readonly schedules: Schedules;
  /** Its deep sweep that has not ended yet. */
  sweeping: StepwiseDeepSweep | undefined;

  constructor(given: ClientOptions) {
    const { name, wake, ...options } = given;
    this.options = given;
    this.wake = { wake, window: WINDOW };
    this.queue = new Queue(name, options);
    this.waking = new Queue(name, { ...options, wake: this.wake });
    this.ready = new Queue(name, { ...options, layer: readyOnly });
    this.operator = new Operator(name, options);
    this.wakingOperator = new Operator(name, { ...options, wake: this.wake });
    this.schedules = new Schedules(name, options);
  }

  call(operation: Operation): Promise<unknown> {
    return (CALLS[operation.does] as (client: Client, operation: Operation) => Promise<unknown>)(
      this,
      operation,
    );
  }
}

const CALLS: { readonly [D in Operation["does"]]: (client: Client, operation: Of<D>) => Promise<unknown> } = {
  enqueue: ({ queue, waking }, { key, tasks, waker }) => enqueueTo(waker ? waking : queue, tasks, key),
  ...KEYED_CALLS,
  enqueueNew: ({ options }, operation) => enqueueNew(options, operation),
  dequeue: (client, pull) => dequeueing(client, pull).dequeue(dequeueOptions(pull)),
  settle: (client, { key: idempotencyKey, items, pull }) =>
    pull
      ? dequeueing(client, pull).settleAndDequeue(items.map(settlementOf), dequeueOptions(pull))
      : client.queue.settle(items.map(settlementOf), { idempotencyKey }),
  cancel: ({ queue }, { id, lease }) => queue.cancel(id, { lease }),
  cancelMany: async ({ queue }, { ids }) => {
    const answers: unknown[] = [];
    for (let first = 0; first < ids.length; first += AT_ONCE) {
      const some = ids.slice(first, first + AT_ONCE);
      answers.push(...(await Promise.all(some.map((id) => queue.cancel(id)))));
    }
    return answers;
  },
  remove: ({ operator }, { id }) => operator.remove(id),
  get: ({ queue }, { id }) => queue.get(id),
  skip: ({ operator }, { id }) => operator.skip(id),
  stoppedGroups: ({ operator }) => operator.stoppedGroups({ size: 1_000 }),
  redrive: (client, { does: _, waker, ...options }) => operatorOf(client, waker).redrive(options),
  redriveIds: (client, { ids, waker }) => operatorOf(client, waker).redrive({ ids }),
  purge: ({ operator }, { does: _, ...options }) => operator.purge(options),
  configure: (client, { changes, key, waker }) =>
    operatorOf(client, waker).configure(changes, { idempotencyKey: key }),
  pause: (client, { key, waker, for: length }) =>
    operatorOf(client, waker).pause({ for: length, idempotencyKey: key }),
  resume: (client, { key, waker }) => operatorOf(client, waker).resume({ idempotencyKey: key }),
  configureGroup: ({ operator }, { group, changes, key }) =>
    operator.configureGroup(group, changes, { idempotencyKey: key }),
  drop: ({ operator }, { force, key }) => operator.deleteQueue({ force, idempotencyKey: key }),
  heartbeat: ({ queue }, { worker, lease, receipts }) => queue.heartbeat(worker, { lease, receipts }),
  fail: (client, { worker, limit, waker }) => operatorOf(client, waker).failWorker(worker, { limit }),
  forget: ({ operator }, { worker }) => operator.forgetWorker(worker),
  sweep: async ({ options: { name, transport, now, onDeadLetter }, wake }, { limit, once, waker }) => {
    if (!once) return sweep(transport, { now, limit, onDeadLetter, ...(waker && { wake }) });
    const args = {
      testNow: String(now()),
      limit: String(limit),
      wake: waker ? String(WINDOW) : "",
      ahead: "1",
    };
    const outcomes = await transport.send([callOf(sweepScript, queueKeys(name), args)]);
    const { deadLetters, ...counts } = sweepScript.decode(lastReply(outcomes));
    reportExpired(onDeadLetter, name, deadLetters);
    return counts;
  },
  wakeAnother: ({ waking }) => waking.wakeAnother(),
  counts: ({ queue }) => queue.counts(),
  workers: ({ operator }) => operator.workers({ size: 1_000 }),
  groups: ({ operator }) => operator.groups({ size: 1_000 }),
  statistics: ({ operator }) => operator.statistics(),
  settings: ({ operator }) => operator.settings(),
  deepSweep: ({ options: { transport, now, name } }) => deepSweep(transport, { now, queue: name }),
  deepSweepOn: async (client, { requests }) => {
    const { transport, name, now } = client.options;
    client.sweeping ??= new StepwiseDeepSweep(transport, name, now);
    const report = await client.sweeping.goOn(requests);
    if (report) client.sweeping = undefined;
    return report ?? { faults: [], failed: [] };
  },
  list: async ({ operator }, { does: _, ...options }) => {
    const tasks = [];
    let cursor: string | undefined;
    do {
      const page = await operator.list({ ...options, cursor });
      tasks.push(...page.tasks);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    return tasks;
  },
  putSchedule: ({ schedules }, { name, schedule, key }) =>
    schedules.put(name, schedule, { idempotencyKey: key }),
  switchSchedule: ({ schedules }, { name, to, key }) => schedules[to](name, { idempotencyKey: key }),
  removeSchedule: ({ schedules }, { name, key }) => schedules.remove(name, { idempotencyKey: key }),
  getSchedule: ({ schedules }, { name }) => schedules.get(name),
  listSchedules: async ({ schedules }) => (await schedules.list({ size: 1_000 })).schedules,
  invalid: ({ queue, operator }, { which }) => {
    const [, call] = INVALID[which] as (typeof INVALID)[number];
    return call(queue, operator).then(
      () => "accepted",
      (error: { code?: string; path?: string }) => ({ code: error.code, path: error.path }),
    );
  },
};

/** Enqueues one task by the call for one, several by the call for several. */
export async function enqueueTo<T>(
  queue: Queue<T>,
  tasks: readonly NewTask<T>[],
  idempotencyKey: string | undefined,
): Promise<unknown> {
  const [lone] = tasks;
  if (tasks.length > 1 || !lone) return queue.enqueueMany(tasks, { idempotencyKey });
  const { payload, ...options } = lone;
  return [await queue.enqueue(payload, { ...options, idempotencyKey })];
}

/** A layer whose settles with a dequeue take only what is ready. */
const readyOnly = (next: Store): Store => ({
  ...next,
  settleAndTake: (batch, request) =>
    next.settleAndTake(batch, { ...request, lookAfter: Number.MAX_SAFE_INTEGER }),
});

const dequeueing = ({ queue, ready }: Client, pull: Pull) => (pull.readyOnly ? ready : queue);

const operatorOf = ({ operator, wakingOperator }: Client, waker: boolean | undefined) =>
  waker ? wakingOperator : operator;

export const dequeueOptions = ({ token, max, lease, single, worker }: Pull) => ({
  token,
  max,
  lease,
  maxBytes: single ? 1 : undefined,
  worker,
});

/** The settlement of each outcome. */
const SETTLEMENTS: Record<OperationSettlement["outcome"], (operation: OperationSettlement) => Settlement> = {
  complete: ({ receipt, ms, text }) => ({ receipt, outcome: "complete", ttl: ms, result: text }),
  reject: ({ receipt, ms, text }) => ({ receipt, outcome: "reject", ttl: ms, error: text }),
  requeue: ({ receipt, ms, count, queue, text }) => {
    return { receipt, outcome: "requeue", delay: ms, count, queue, error: text };
  },
  unstarted: ({ receipt }) => ({ receipt, outcome: "requeue", unstarted: true }),
  extend: ({ receipt, ms, text }) => ({ receipt, outcome: "extend", lease: ms, progress: text }),
};

export const settlementOf = (operation: OperationSettlement) => SETTLEMENTS[operation.outcome](operation);
