/** All kinds of steps. The values of a call are drawn beforehand, its references when it runs. */
import { array, boolean, constant, nat, oneof, option, tuple } from "fast-check";
import {
  filter,
  group,
  id,
  leaseTime,
  maybe,
  oneOf,
  pull,
  record,
  schedule,
  scheduleName,
  settlement,
  settlementOf,
  task,
  worker,
  type DrawnSettlement,
} from "./arbitraries.ts";
import { INVALID } from "./invalid.ts";
import { throughCancelled, throughProgress } from "./passages.ts";
import { step, wait } from "./step.ts";
import type { World } from "./world.ts";

/** The receipt for a random number; later ones are more likely. */
const receiptAt = ({ receipts }: World, n: number) => receipts.at(-1 - (n % Math.max(1, receipts.length)));

/**
 * All steps of a run. `shared`: with groups and priorities; `waker`: consumers are woken; `scheduled`: with
 * schedules.
 */
export function allSteps({
  grouped,
  waker,
  scheduled,
}: {
  readonly grouped: boolean;
  readonly waker: boolean;
  readonly scheduled: boolean;
}) {
  const knownLease = (world: World, named: string, which: number) =>
    which === 0 ? undefined : which === 1 ? (world.queue.tasks.get(named)?.lease ?? 0) : 99;
  // Tasks whose ids are made from the key come first: their positions distinguish one body from another.
  const keyedTasks = tuple(
    array(task(grouped), { minLength: 1, maxLength: 4 }),
    array(task(grouped), { maxLength: 1 }),
  ).map(([unnamed, named]) => [
    ...unnamed.map(({ id: _, again: __, unique: ___, ...rest }) => rest),
    ...named,
  ]);
  const settleItems = array(settlement, { minLength: 1, maxLength: 4 });
  const items = (drawn: readonly DrawnSettlement[], world: World) =>
    drawn.flatMap((one) => {
      const receipt = receiptAt(world, one.receipt);
      return receipt === undefined ? [] : [settlementOf(one, receipt)];
    });
  const rate = option(record({ most: oneOf(1, 3, 6), per: oneOf(100, 1_000, 3_000) }), { nil: null });
  const most = option(oneOf(1, 2, 4), { nil: null });

  return oneof(
    wait(14, 1, 50, 300, 1_000, 1_000, 3_000, 10_000, 61_000, 310_000, 3_700_000, -700, -3_600_000),
    step(20, "enqueue", array(task(grouped), { minLength: 1, maxLength: 4 }), (tasks, world) => ({
      does: "enqueue",
      key: world.newKey(),
      tasks,
      waker,
    })),
    step(5, "enqueue under a key", keyedTasks, (tasks, world) => ({
      does: "enqueue",
      key: world.newKey(),
      tasks,
      waker,
    })),
    step(3, "enqueue under a used key", tuple(nat(), nat(2)), ([back, way], { calls }) => {
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
    step(20, "dequeue", pull, (drawn) => ({ does: "dequeue", ...drawn })),
    step(16, "settle", settleItems, (drawn, world) => {
      const settlements = items(drawn, world);
      return settlements.length > 0 ? { does: "settle", key: world.newKey(), items: settlements } : undefined;
    }),
    step(4, "settle and dequeue", tuple(settleItems, pull), ([drawn, next], world) => {
      const settlements = items(drawn, world);
      return settlements.length > 0 ? { does: "settle", items: settlements, pull: next } : undefined;
    }),
    step(5, "cancel", tuple(id, nat(2)), ([named, which], world) => ({
      does: "cancel",
      id: named,
      lease: knownLease(world, named, which),
    })),
    throughCancelled(3),
    throughProgress(2),
    step(3, "remove", id, (named) => ({ does: "remove", id: named })),
    step(4, "get", id, (named) => ({ does: "get", id: named })),
    step(
      3,
      "redrive",
      tuple(filter(grouped), boolean(), maybe(oneOf(0.5, 3), 2)),
      ([meant, dryRun, each]) => ({
        does: "redrive",
        waker,
        ...meant,
        dryRun,
        rate: each,
      }),
    ),
    step(3, "redrive ids", array(tuple(id, nat(2)), { minLength: 1, maxLength: 4 }), (drawn, world) => ({
      does: "redriveIds",
      waker,
      ids: drawn.map(([named, which]) => ({ id: named, lease: knownLease(world, named, which) })),
    })),
    step(
      2,
      "purge",
      tuple(oneOf("pending", "delayed", "completed", "rejected"), filter(grouped), maybe(oneOf(1, 3), 1)),
      ([state, meant, limit]) => {
        const grouped = "group" in meant && meant.group !== undefined ? { group: meant.group } : {};
        if (state === "pending")
          return { does: "purge", state, ...grouped, limit: grouped ? undefined : limit };
        return { does: "purge", state, ...(state === "rejected" ? meant : grouped), limit };
      },
    ),
    step(8, "sweep", tuple(oneOf(1, 2, 1_000), boolean()), ([limit, once]) => ({
      does: "sweep",
      limit,
      waker: waker && !once,
      once,
    })),
    step(
      3,
      "heartbeat",
      tuple(worker, maybe(leaseTime), maybe(array(nat(), { maxLength: 3 }), 1)),
      (drawn, world) => {
        const [who, lease, held] = drawn;
        const receipts = held?.flatMap((n) => receiptAt(world, n) ?? []);
        return { does: "heartbeat", worker: who, lease, receipts };
      },
    ),
    step(
      2,
      "fail",
      tuple(worker, boolean(), oneOf(1, 1_000)),
      ([{ silentAfter: _, ...who }, byName, limit]) => ({
        does: "fail",
        worker: byName ? who.name : who,
        limit,
        waker,
      }),
    ),
    step(
      2,
      "configure",
      record(
        {
          maxWorking: most,
          rate,
          maxPending: option(oneOf(3, 8), { nil: null }),
          statistics: boolean(),
          events: boolean(),
        },
        { requiredKeys: ["statistics"] },
      ),
      (changes, world) => ({
        does: "configure",
        key: world.newKey(),
        changes,
        waker,
      }),
    ),
    step(2, "pause or resume", oneOf("pause", "resume", "resume"), (does, world) => ({
      does,
      waker,
      key: world.newKey(),
    })),
    step(
      grouped ? 3 : 0,
      "configure group",
      tuple(group, record({ weight: oneOf(1, 4), maxWorking: most, rate }, { requiredKeys: ["weight"] })),
      ([name, changes], world) => ({
        does: "configureGroup",
        key: world.newKey(),
        group: name,
        changes,
      }),
    ),
    step(1, "drop", boolean(), (force, world) => ({ does: "drop", key: world.newKey(), force })),
    step(waker ? 2 : 0, "wake another", constant(0), () => ({ does: "wakeAnother" })),
    step(5, "look", oneOf("counts", "workers", "groups", "statistics", "settings", "deepSweep"), (does) => ({
      does,
    })),
    step(12, "deep sweep on", oneOf(1, 1, 2, 3, 5, 8), (requests) => ({ does: "deepSweepOn", requests })),
    step(
      4,
      "list",
      tuple(
        oneOf("pending", "delayed", "working", "completed", "rejected"),
        oneOf(1, 3, 100),
        filter(grouped),
      ),
      ([state, size, meant]) => ({
        does: "list",
        state,
        size,
        ...(state === "rejected" ? meant : {}),
      }),
    ),
    step(
      scheduled ? 6 : 0,
      "put schedule",
      tuple(scheduleName, schedule),
      ([name, drawn], { now, newKey }) => ({
        does: "putSchedule",
        key: newKey(),
        name,
        schedule: drawn(now),
      }),
    ),
    step(
      scheduled ? 3 : 0,
      "switch schedule",
      tuple(scheduleName, oneOf("pause", "resume")),
      ([name, to], { newKey }) => ({
        does: "switchSchedule",
        key: newKey(),
        name,
        to,
      }),
    ),
    step(scheduled ? 1 : 0, "remove schedule", scheduleName, (name, { newKey }) => ({
      does: "removeSchedule",
      key: newKey(),
      name,
    })),
    step(scheduled ? 2 : 0, "get schedule", scheduleName, (name) => ({ does: "getSchedule", name })),
    step(scheduled ? 2 : 0, "list schedules", constant(0), () => ({ does: "listSchedules" })),
    step(3, "invalid", nat(INVALID.length - 1), (which) => ({ does: "invalid", which })),
    step(8, "again", tuple(nat(), boolean()), ([back, flagged], { calls }) => {
      const call = calls.at(-1 - (back % Math.max(1, Math.min(calls.length, 12))));
      return call?.does === "dequeue" ? { ...call, flagged } : call;
    }),
  );
}
