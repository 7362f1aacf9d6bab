/** The expected answer of each operation. Computing it changes the model. */
import type { LeasedTask, Settled } from "../../../src/index.ts";
import { WINDOW } from "./client.ts";
import { enqueue } from "./enqueue.ts";
import {
  cancelled,
  emptied,
  FLOWS_EXPECTED,
  NODE,
  redriven,
  sendsSettled,
  sendsTaken,
  sweptDeep,
  sweptFlows,
} from "./flows/expected.ts";
import { stoppedGroups } from "./lines.ts";
import { newlyAdded } from "./hand-over.ts";
import { INVALID } from "./invalid.ts";
import { counts, groups, list, outOfTurn, usesGroups, statistics, workers } from "./reads.ts";
import {
  cancel,
  configure,
  configureGroup,
  drop,
  purge,
  redrive,
  redriveByIds,
  remove,
  skip,
  wasRedriven,
} from "./operate.ts";
import type { Of, Operation, OperationSettlement, OperationWorker } from "./operations.ts";
import { NAME, type Happened } from "./real.ts";
import { KEYED_EXPECTED } from "./keys/keyed-calls.ts";
import { pauseAt, pauseAtLeast } from "./pauses.ts";
import { drafted, listed, occur, skippedBy, switched, type ModelSchedule } from "./schedules.ts";
import { settle, type ModelSettlement } from "./settle.ts";
import { infoOf, type ModelDeadLetter } from "./state.ts";
import { sweep, sweepAll } from "./sweep.ts";
import { wakeAnother, wakesOnReady, wakesOnRelease } from "./wake.ts";
import { failWorker, forgetWorker, heartbeat, leaveFailed, type LeaseProof } from "./workers.ts";
import type { World } from "./world.ts";

const notFound = { ok: false, code: "not_found" };

/**
 * The delivery of a call: the only one; one whose answer is lost; a second one, marked as a resend or not.
 */
export type Copy = "only" | "unheard" | "delivered again" | "resent";

type Expect<D extends Operation["does"]> = (
  world: World,
  operation: Of<D>,
  happened: Happened,
  copy: Copy,
) => unknown;

type Expectation = (world: World, operation: Operation, happened: Happened, copy: Copy) => unknown;

/** A call that changes settings, and a copy of it, are both answered with the current settings. */
const settingsOf = ({ queue, now }: World) => ({ ...queue.settings, ...pauseAt(queue.settings, now) });

const EXPECTED: { readonly [D in Operation["does"]]: Expect<D> } = {
  enqueue: (world, { waker, key, tasks }, { adding, answer }) => {
    const look = adding.at(-1)?.look === true;
    const call = { producer: key, asked: JSON.stringify(tasks), look, wake: waker ? WINDOW : undefined };
    const named = world.named(key, tasks, answer);
    const added = enqueue(world.queue, world.now, named, call);
    if (typeof added === "string") return { refused: added };
    world.learnIds(key, named);
    if (added.wake) world.woken++;
    return added.tasks;
  },
  enqueueNew: (world, operation, happened, copy) => newlyAdded(world, operation, happened, copy),
  ...KEYED_EXPECTED,
  dequeue: (world, pull, happened, copy) =>
    world.pulled(pull, happened.answer as readonly LeasedTask[], happened, {
      copy,
      afterSettle: false,
      send: sendsTaken(world, copy),
    }),
  settle: (world, { key, items, pull }, happened, copy) => {
    const pause = Math.max(...items.map((item) => (item.queue && item.ms) || 0));
    if (pause > 0) pauseAtLeast(world.queue, world.now, pause);
    const settled = settle(world.queue, world.now, items.map(settlementOf), key);
    const send = sendsSettled(world, copy);
    world.queue.deadLetters.push(...settled.flatMap(deadLetterOf));
    // Those that pause the queue are settled by a request of their own. Only that one may come twice.
    if (!pull || (pause > 0 && copy === "unheard")) {
      send();
      return settled;
    }
    const { tasks } = happened.answer as { tasks: readonly LeasedTask[] };
    const pulling = {
      copy: pause > 0 ? "only" : copy,
      afterSettle: true,
      send: sendsTaken(world, copy, send),
    } as const;
    return { settled, tasks: world.pulled(pull, tasks, happened, pulling) };
  },
  cancel: (world, { id, lease }, _, copy) =>
    cancelled(world, id, copy, () => cancel(world.queue, world.now, id, lease)),
  cancelMany: ({ queue, now }, { ids }) => ids.map((id) => cancel(queue, now, id)),
  remove: ({ queue, now }, { id }) => remove(queue, now, id),
  get: ({ queue, name }, { id }) => infoOf(queue, name, id),
  skip: ({ queue }, { id }) => skip(queue, id),
  stoppedGroups: ({ queue }) => {
    const groups = stoppedGroups(queue);
    return { total: groups.length, groups, cursor: null };
  },
  redrive: (world, operation, _, copy) => {
    const count = redrive(world.queue, world.now, operation);
    if (count > 0 && !operation.dryRun) {
      wakeForReady(world, operation.waker, "first");
      if (copy !== "unheard") redriven(world);
    }
    return { redriven: count, refused: [] };
  },
  redriveIds: (world, { ids, waker }, _, copy) => {
    const { queue, now } = world;
    const waiting = ids.map(({ id }) => id).filter((id) => isRedriven(queue, id));
    const answer = redriveByIds(queue, now, ids);
    const isCopy = waiting.some((id) => !answer.refused.some((refused) => refused.id === id));
    if (answer.redriven > 0) {
      wakeForReady(world, waker, isCopy ? "later" : "first");
      if (copy !== "unheard" && ids.some(({ id }) => NODE.test(id))) redriven(world);
    }
    return answer;
  },
  purge: (world, operation, _, copy) => {
    const purged = purge(world.queue, world.now, operation);
    if (operation.state === "blocked" && purged > 0 && copy !== "unheard") emptied(world);
    return { purged };
  },
  configure: (world, operation) => configured(world, operation, operation.changes),
  pause: (world, operation) => configured(world, operation, { pause: operation.for ?? 0 }),
  resume: (world, operation) => configured(world, operation, { pause: null }),
  configureGroup: (world, { key, group, changes }) => {
    world.once(key, () => configureGroup(world.queue, world.now, group, changes));
    return configureGroup(world.queue, world.now, group, {});
  },
  drop: (world, { key, force }) =>
    world.once(`drop ${key}`, () => {
      const left = drop(world.queue, force);
      if (typeof left === "number") return { ok: false, code: "still_working", working: left };
      world.queue = left;
      return { ok: true };
    }),
  heartbeat: ({ queue, now }, { worker, lease, receipts }) => {
    const reported = receipts && [...new Set(receipts)].map(leaseOf);
    return heartbeat(queue, now, { ...signOf(worker), lease, reported });
  },
  fail: (world, { worker, limit, waker }) => {
    const { queue, now } = world;
    const failed = failWorker(queue, now, typeof worker === "string" ? worker : signOf(worker).worker, limit);
    if (failed.returned > 0) wakeForReady(world, waker, "first");
    return failed;
  },
  forget: ({ queue }, { worker }) => forgetWorker(queue, signOf(worker).worker),
  sweep: swept,
  wakeAnother: (world) => {
    const woken = wakeAnother(world.queue, world.now, WINDOW);
    if (woken) world.woken++;
    return woken;
  },
  counts: ({ queue, now, name }) => {
    const read = counts(queue, now, name);
    // The age is compared in another way.
    return usesGroups(queue) ? { ...read, oldestAge: true, nextDueAt: null } : read;
  },
  workers: ({ queue, now }) => workers(queue, now),
  groups: ({ queue, now }) => ({ groups: groups(queue, now), cursor: null }),
  statistics: ({ queue, now }) => ({
    on: queue.settings.statistics,
    minutes: statistics(queue, now),
    totals: Object.fromEntries(queue.totals),
  }),
  settings: settingsOf,
  deepSweep: (world) => {
    leaveFailed(world.queue);
    sweptDeep(world);
    return { faults: [], failed: [] };
  },
  deepSweepOn: ({ queue }, _, { after }) => {
    leaveFailed(queue, (name) => !after.workers.has(name));
    return { faults: [], failed: [] };
  },
  list: ({ queue, name }, operation) => {
    const tasks = list(queue, name, operation.state, operation);
    return outOfTurn(queue, operation) ? tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1)) : tasks;
  },
  putSchedule: (world, { key, name, schedule }) => {
    const before = world.queue.schedules.get(name);
    const draft = drafted(before, world.now, schedule);
    const put = noted(world, `put ${name} ${key}`, before !== undefined, draft?.next, () =>
      world.queue.schedules.set(name, draft as ModelSchedule),
    );
    if (!draft || !put) return { refused: "invalid_argument" };
    return { ...listed(NAME, name, { ...draft, next: put.next }), created: !put.existed };
  },
  switchSchedule: (world, { key, name, to }) => {
    const before = world.queue.schedules.get(name);
    const plan = before && switched(before, world.now, to === "pause");
    const done = noted(world, `${to} ${name} ${key}`, true, plan?.next, () =>
      world.queue.schedules.set(name, plan as ModelSchedule),
    );
    if (!plan || !done) return notFound;
    const schedule = listed(NAME, name, { ...plan, next: done.next });
    return { ok: true, schedule, ...(to === "resume" && { skipped: skippedBy(before, world.now) }) };
  },
  removeSchedule: (world, { key, name }) => {
    const there = world.queue.schedules.has(name);
    const removed = noted(world, `remove ${name} ${key}`, there, 0, () => world.queue.schedules.delete(name));
    return removed?.existed ? { ok: true } : notFound;
  },
  getSchedule: ({ queue }, { name }) => {
    const schedule = queue.schedules.get(name);
    if (!schedule) return null;
    const { payload, maxAttempts } = schedule;
    return {
      ...listed(NAME, name, schedule),
      payload,
      // A default value is not kept.
      ...(maxAttempts !== undefined && maxAttempts !== 10 && { maxAttempts }),
    };
  },
  listSchedules: ({ queue }) =>
    [...queue.schedules]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schedule]) => listed(NAME, name, schedule)),
  ...FLOWS_EXPECTED,
  invalid: (_, { which }) => ({ code: "invalid_argument", path: INVALID[which]?.[0] }),
};

export function expectedOf(world: World, operation: Operation, happened: Happened, copy: Copy): unknown {
  const expect = EXPECTED[operation.does] as Expectation;
  if (world.queue.flows) world.queue.flows.left = [];
  return expect(world, operation, happened, copy);
}

/**
 * The result of a call that writes a schedule, now or when an earlier copy of it ran; undefined if it wrote
 * nothing.
 * @param next undefined if there is nothing to write
 */
function noted(
  world: World,
  key: string,
  existed: boolean,
  next: number | undefined,
  write: () => unknown,
): { readonly existed: boolean; readonly next: number } | undefined {
  return world.once(key, () => {
    if (next === undefined) return undefined;
    write();
    return { existed, next };
  }) as { readonly existed: boolean; readonly next: number } | undefined;
}

const windowOf = (waker: boolean | undefined) => (waker ? WINDOW : undefined);

function wakeForReady(world: World, waker: boolean | undefined, copy: "first" | "later"): void {
  if (wakesOnReady(world.queue, world.now, windowOf(waker), copy)) world.woken++;
}

function isRedriven(queue: World["queue"], id: string): boolean {
  const task = queue.tasks.get(id);
  return task !== undefined && wasRedriven(task);
}

function configured(
  world: World,
  { key, waker }: { readonly key: string; readonly waker?: boolean },
  changes: Parameters<typeof configure>[2],
) {
  let change: Parameters<typeof wakesOnRelease>[3] | undefined = "made before";
  world.once(key, () => {
    const { paused, maxWorking, rate } = settingsOf(world);
    const now = configure(world.queue, world.now, changes);
    const loosened = JSON.stringify([maxWorking, rate]) !== JSON.stringify([now.maxWorking, now.rate]);
    change = paused && !now.paused ? "resumed" : loosened ? "loosened" : undefined;
  });
  if (change && wakesOnRelease(world.queue, world.now, windowOf(waker), change)) world.woken++;
  return settingsOf(world);
}

function swept(world: World, { limit, once, waker }: Of<"sweep">, happened: Happened) {
  const { queue, now } = world;
  if (world.flows && !once) return sweptFlows(world, limit, happened);
  const wake = waker ? WINDOW : undefined;
  if (once) return { ...sweep(queue, now, limit, wake), newer: 0 };
  const { scheduled, due, full } = occur(queue, now, limit);
  const idle = { promoted: 0, reclaimed: 0, rejected: 0, expired: 0, wake: false };
  const { wake: woken, ...counted } =
    happened.registry.has(NAME) || due ? sweepAll(queue, now, limit, wake) : idle;
  if (woken) world.woken++;
  const failed = full ? [{ queue: NAME, code: "queue_full" }] : [];
  return { ...counted, more: false, scheduled, woken: woken ? 1 : 0, failed };
}

export const signOf = ({ name, incarnation = "", silentAfter, goneAfter }: OperationWorker) => ({
  worker: `${name} ${incarnation}`,
  silentAfter,
  goneAfter: silentAfter === undefined ? goneAfter : undefined,
});

/** `1.<attempt>.<lease number>.<lease token>.<id>` */
function leaseOf(receipt: string): LeaseProof {
  const [, , lease = "", token = "", ...id] = receipt.split(".");
  return { id: id.join("."), lease: Number(lease), token };
}

/** What a settlement reports: also if it is repeated. */
function deadLetterOf(settled: Settled): ModelDeadLetter[] {
  if (!settled.ok || settled.state !== "rejected") return [];
  const { reason, receipt } = settled;
  if (reason === undefined || reason === "cancelled" || reason === "dependency_failed") return [];
  return [{ id: leaseOf(receipt).id, reason, attempts: Number.parseInt(receipt.split(".")[1] ?? "", 10) }];
}

const settlementOf = (settlement: OperationSettlement): ModelSettlement => ({
  ...settlement,
  ...leaseOf(settlement.receipt),
});
