/** All kinds of steps. The values of a call are drawn beforehand, its references when it runs. */
import { array, boolean, constant, nat, oneof, option, tuple } from "fast-check";
import {
  filter,
  group,
  id,
  leaseTime,
  maybe,
  newTask,
  oneOf,
  plainTask,
  pull,
  record,
  schedule,
  scheduleName,
  settlement,
  settlementOf,
  task,
  worker,
  type DrawnSettlement,
  pauseTime,
} from "./arbitraries.ts";
import { keyedSteps } from "./keys/keyed-steps.ts";
import { INVALID } from "./invalid.ts";
import { throughCancelled, throughProgress } from "./passages.ts";
import { asDrawn, step, wait, withKey } from "./step.ts";
import type { World } from "./world.ts";

/** The receipt for a random number; later ones are more likely. */
const receiptAt = ({ receipts }: World, n: number) => receipts.at(-1 - (n % Math.max(1, receipts.length)));

const knownLease = (world: World, named: string, which: number) =>
  which === 0 ? undefined : which === 1 ? (world.queue.tasks.get(named)?.lease ?? 0) : 99;

const settlements = array(settlement, { minLength: 1, maxLength: 4 });
const settlementsOf = (drawn: readonly DrawnSettlement[], world: World) =>
  drawn.flatMap((one) => {
    const receipt = receiptAt(world, one.receipt);
    return receipt === undefined ? [] : [settlementOf(one, receipt)];
  });

const rate = option(record({ most: oneOf(1, 3, 6), per: oneOf(100, 1_000, 3_000) }), { nil: null });
const most = option(oneOf(1, 2, 4), { nil: null });

/**
 * All steps of a run. `shared`: with groups and priorities; `waker`: consumers are woken; `scheduled`: with
 * schedules.
 */
export function allSteps({
  grouped,
  waker,
  scheduled,
  ordered = false,
  keyed = false,
}: {
  readonly grouped: boolean;
  readonly waker: boolean;
  readonly scheduled: boolean;
  readonly ordered?: boolean;
  readonly keyed?: boolean;
}) {
  const tasks = array(task(grouped && (ordered ? "without priorities" : true)), {
    minLength: 1,
    maxLength: 4,
  });
  // Tasks whose ids are made from the key come first: their positions distinguish one body from another.
  const keyedTasks = tuple(
    tasks,
    array(task(grouped && (ordered ? "without priorities" : true)), { maxLength: 1 }),
  ).map(([unnamed, named]) => [
    ...unnamed.map(({ id: _, again: __, unique: ___, ...rest }) => rest),
    ...named,
  ]);
  const wakes = constant(waker);

  return oneof(
    wait(14, 1, 50, 300, 1_000, 1_000, 3_000, 10_000, 61_000, 310_000, 3_700_000, -700, -3_600_000),
    withKey(20, "enqueue", record({ tasks, waker: wakes })),
    withKey(5, "enqueue", record({ tasks: keyedTasks, waker: wakes })),
    // Those that go the short way of a script, and of which two may have one id.
    withKey(4, "enqueue", record({ tasks: array(plainTask, { minLength: 2, maxLength: 4 }), waker: wakes })),
    asDrawn(
      16,
      "enqueueNew",
      record({
        tasks: oneof(
          array(newTask(grouped), { minLength: 1, maxLength: 1 }),
          array(newTask(grouped), { minLength: 2, maxLength: 4 }),
        ),
        consumer: oneOf("none", ...(waker ? (["elsewhere", "elsewhere"] as const) : []), "here", "here"),
        lease: leaseTime,
      }),
    ),
    // Under the key of another enqueue.
    step(3, tuple(nat(), nat(2)), ([back, way], { calls }) => {
      const before = calls.filter(
        (call) => call.does === "enqueue" && call.tasks.some(({ id: own }) => own === undefined),
      );
      const call = before.at(-1 - (back % Math.max(1, Math.min(before.length, 4))));
      if (call?.does !== "enqueue") return undefined;
      const [first, ...others] = call.tasks;
      const changed = [
        [...call.tasks, { payload: "one more" }],
        [{ ...first, payload: "another" }, ...others],
        [{ ...first, payload: first?.payload, maxAttempts: 7 }, ...others],
      ];
      return { ...call, tasks: changed[way] ?? call.tasks };
    }),
    asDrawn(20, "dequeue", pull),
    step(16, settlements, (drawn, world) => {
      const items = settlementsOf(drawn, world);
      return items.length > 0 ? { does: "settle", key: world.newKey(), items } : undefined;
    }),
    step(4, tuple(settlements, pull), ([drawn, next], world) => {
      const items = settlementsOf(drawn, world);
      return items.length > 0 ? { does: "settle", items, pull: next } : undefined;
    }),
    step(5, tuple(id, nat(2)), ([named, which], world) => ({
      does: "cancel",
      id: named,
      lease: knownLease(world, named, which),
    })),
    throughCancelled(3),
    throughProgress(2),
    asDrawn(3, "remove", record({ id })),
    asDrawn(4, "get", record({ id })),
    step(3, tuple(filter(grouped), boolean(), maybe(oneOf(0.5, 3), 2)), ([meant, dryRun, each]) => ({
      does: "redrive",
      waker,
      ...meant,
      dryRun,
      rate: each,
    })),
    step(3, array(tuple(id, nat(2)), { minLength: 1, maxLength: 4 }), (drawn, world) => ({
      does: "redriveIds",
      waker,
      ids: drawn.map(([named, which]) => ({ id: named, lease: knownLease(world, named, which) })),
    })),
    step(
      2,
      tuple(oneOf("pending", "delayed", "completed", "rejected"), filter(grouped), maybe(oneOf(1, 3), 1)),
      ([state, meant, limit]) => {
        const ofGroup = "group" in meant && meant.group !== undefined ? { group: meant.group } : {};
        if (state === "pending")
          return { does: "purge", state, ...ofGroup, limit: grouped ? undefined : limit };
        return { does: "purge", state, ...(state === "rejected" ? meant : ofGroup), limit };
      },
    ),
    step(8, tuple(oneOf(1, 2, 1_000), boolean()), ([limit, once]) => ({
      does: "sweep",
      limit,
      waker: waker && !once,
      once,
    })),
    step(
      3,
      tuple(worker, maybe(leaseTime), maybe(array(nat(), { maxLength: 3 }), 1)),
      ([who, lease, held], world) => {
        const receipts = held?.flatMap((n) => receiptAt(world, n) ?? []);
        return { does: "heartbeat", worker: who, lease, receipts };
      },
    ),
    step(
      2,
      tuple(worker, boolean(), oneOf(1, 1_000)),
      ([{ silentAfter: _, goneAfter: __, ...who }, byName, limit]) => ({
        does: "fail",
        worker: byName ? who.name : who,
        limit,
        waker,
      }),
    ),
    step(1, worker, ({ silentAfter: _, goneAfter: __, ...who }) => ({ does: "forget", worker: who })),
    withKey(
      2,
      "configure",
      record({
        waker: wakes,
        changes: record(
          {
            maxWorking: most,
            rate,
            maxPending: option(oneOf(3, 8), { nil: null }),
            statistics: boolean(),
            events: boolean(),
            ...(ordered && { onDead: oneOf("continue", "stop", "stop") }),
          },
          { requiredKeys: ["statistics"] },
        ),
      }),
    ),
    withKey(1, "pause", record({ waker: wakes, for: pauseTime })),
    withKey(2, "resume", record({ waker: wakes })),
    withKey(
      grouped ? 3 : 0,
      "configureGroup",
      record({
        group,
        changes: record(
          {
            paused: oneOf<boolean | { for: number }>(
              true,
              false,
              false,
              { for: 1 },
              { for: 2_000 },
              { for: 400_000 },
            ),
            weight: oneOf(1, 4),
            maxWorking: most,
            rate,
            ...(ordered && { onDead: oneOf("continue", "stop", null) }),
          },
          { requiredKeys: ["weight"] },
        ),
      }),
    ),
    // A queue without settings has no order.
    withKey(ordered ? 0 : 1, "drop", record({ force: boolean() })),
    asDrawn(ordered ? 4 : 0, "skip", record({ id })),
    asDrawn(ordered ? 2 : 0, "stoppedGroups", record({})),
    asDrawn(waker ? 2 : 0, "wakeAnother", record({})),
    step(5, oneOf("counts", "workers", "groups", "statistics", "settings", "deepSweep"), (does) => ({
      does,
    })),
    asDrawn(12, "deepSweepOn", record({ requests: oneOf(1, 1, 2, 3, 5, 8) })),
    step(
      4,
      tuple(
        oneOf("pending", "delayed", "working", "completed", "rejected"),
        oneOf(1, 3, 100),
        filter(grouped),
      ),
      ([state, size, meant]) => ({ does: "list", state, size, ...(state === "rejected" ? meant : {}) }),
    ),
    step(scheduled ? 6 : 0, tuple(scheduleName, schedule), ([name, drawn], { now, newKey }) => ({
      does: "putSchedule",
      key: newKey(),
      name,
      schedule: drawn(now),
    })),
    withKey(
      scheduled ? 3 : 0,
      "switchSchedule",
      record({ name: scheduleName, to: oneOf("pause", "resume") }),
    ),
    withKey(scheduled ? 1 : 0, "removeSchedule", record({ name: scheduleName })),
    asDrawn(scheduled ? 2 : 0, "getSchedule", record({ name: scheduleName })),
    asDrawn(scheduled ? 2 : 0, "listSchedules", record({})),
    ...keyedSteps(keyed ? 70 : 0, grouped && (ordered ? "without priorities" : true), waker),
    asDrawn(3, "invalid", record({ which: nat(INVALID.length - 1) })),
    // Again.
    step(8, tuple(nat(), boolean()), ([back, flagged], { calls }) => {
      const call = calls.at(-1 - (back % Math.max(1, Math.min(calls.length, 12))));
      return call?.does === "dequeue" ? { ...call, flagged } : call;
    }),
  );
}
