import { vi } from "vitest";
import { Operator, Schedules, sweep, type LeasedTask, type Queue } from "../../src/index.ts";
import type { Transport } from "../../src/kernel/transport.ts";
import { newToken } from "../../src/kernel/names/ids.ts";
import { queueSpace, withoutSlots, type KeySpace } from "./key-space.ts";
import { QUEUE, START, type Rig } from "./rig.ts";

const MINUTE = 60_000;

/**
 * A key space without the marks of resent dequeues, and of a reminder only whether it comes in time: each copy may make
 * it earlier. A sweep that finds nothing leaves the time at which a queue was in use.
 */
export function comparable(space: KeySpace): KeySpace {
  const registry = space["sluice:queues"];
  if (!registry || !("zset" in registry)) return withoutSlots(space);
  const { schedules } = queueSpace(space, QUEUE);
  const reminders = registry.zset.filter(([member]) => member.startsWith("~"));
  if (reminders.length === 0) return withoutSlots(space);
  const inTime = reminders.map(([member, at]) => [member, at <= Math.min(...schedules.values())]);
  return { ...withoutSlots(space), "sluice:queues": { other: String(inTime) } };
}

/** Makes random values and the client's clock the same in each run, until mocks are restored. */
export function fixChance(): void {
  let next = 0;
  vi.spyOn(Date, "now").mockReturnValueOnce(0).mockReturnValue(START);
  vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
    const bytes = array as Uint8Array;
    for (let i = 0; i < bytes.length; i++, next++) bytes[i] = (next * 37 + Math.floor(next / 97)) % 248;
    return array;
  });
  // At another time, so that no random values of an earlier run are left. Whether it drew new ones depends on
  // that run.
  newToken();
  next = 0;
}

/** Runs a scenario on an emptied Redis. Random values and the client's clock are the same each time. */
export async function run(rig: Rig, scenario: Scenario, over: Pick<Transport, "send"> = rig.transport) {
  await rig.command("FLUSHALL");
  fixChance();
  rig.now = START;
  // Without the memory of an earlier run.
  const transport: Transport = { send: (commands, options) => over.send(commands, options) };
  const answers: unknown[] = [];
  await scenario({
    rig,
    transport,
    queue: rig.queue({ transport }),
    note(answer) {
      const isBatch = Array.isArray(answer) && answer[0]?.receipt && "payload" in answer[0];
      answers.push(isBatch ? seen(answer) : answer);
      return answer;
    },
  });
  const space = comparable(await rig.keySpace());
  // After the resend window nothing else is left either.
  rig.now += 300_000;
  await rig.sweepOnce();
  const later = comparable(await rig.keySpace());
  return { answers, space, later };
}

/** What a scenario works with. */
interface By {
  readonly queue: Queue;
  readonly transport: Transport;
  readonly rig: Rig;
  /** Keeps an answer, to be compared. */
  note<T>(answer: T): T;
}

export type Scenario = (by: By) => Promise<void>;

/** The part of a task that a caller compares: without its methods. */
export const seen = (tasks: readonly LeasedTask[]) =>
  tasks.map(({ id, receipt, payload, attempt, enqueuedAt, deadlineAt }) => ({
    id,
    receipt,
    payload,
    attempt,
    enqueuedAt,
    deadlineAt,
  }));

/** A day of a queue: every script, most of them in several states. */
export const day: Scenario = async ({ queue, transport, rig, note }) => {
  note(await queue.enqueue("generated", { idempotencyKey: "key-1" }));
  note(await queue.enqueue("chosen", { id: "chosen" }));
  note(await queue.enqueue("other", { id: "chosen" }));
  note(await queue.enqueueMany(["b", "c", "d", "e"].map((id) => ({ id, payload: id, maxAttempts: 2 }))));
  note(await queue.enqueue("delayed", { id: "delayed", delay: 100 }));
  const [generated, chosen] = note(await queue.dequeue({ max: 2, lease: 1_000 }));
  note(await generated?.extend(2_000));
  note(await generated?.complete("result"));
  note(await chosen?.requeue({ delay: 50, error: "soon" }));
  note(await queue.cancel("b"));
  const [c] = note(await queue.dequeue({ lease: 500 }));
  note(await queue.cancel("c"));
  note(await c?.extend());
  note(await c?.requeue());
  const [d] = note(await queue.dequeue({ lease: 500 }));
  note(await d?.reject(new Error("no")));
  const [e] = note(await queue.dequeue({ lease: 200 }));
  note(await e?.requeue());
  const { settled, tasks } = await queue.settleAndDequeue([], { lease: 200 });
  note(settled);
  note(seen(tasks));
  rig.now += 200;
  await sweep(transport, { now: () => rig.now });
  note(await tasks[0]?.complete("too late"));
  const rest = note(await queue.dequeue({ max: 10, lease: 300 }));
  note(
    await queue.settle(rest.map(({ receipt }) => ({ receipt, outcome: "requeue" as const, count: false }))),
  );
  const again = note(await queue.dequeue({ max: 10, lease: 300 }));
  note(await queue.dequeue({ max: 10 }).then(seen));
  const mixed = await queue.settleAndDequeue(
    again.map(({ receipt }, i) => ({
      receipt,
      outcome: i === 0 ? ("complete" as const) : ("requeue" as const),
    })),
    { max: 10, lease: 300 },
  );
  note(mixed.settled);
  note(seen(mixed.tasks));
  // Pending at the end: a late copy of a dequeue that found nothing must not lease it.
  note(await queue.enqueue("left", { id: "left" }));
  note(await queue.get("chosen"));
  note(await queue.counts());
};

/** The same with groups, priorities, limits, keys, workers and settings. */
export const sharedDay: Scenario = async ({ queue, transport, rig, note }) => {
  const operator = new Operator(QUEUE, { transport, now: () => rig.now });
  note(await operator.configureGroup("capped", { maxWorking: 1, rate: { most: 3, per: "1s" } }));
  note(await operator.configure({ statistics: true, maxWorking: 6 }));
  const options = [{ group: "capped" }, { group: "free", priority: 1 }, { group: "free" }, {}];
  const tasks = Array.from({ length: 12 }, (_, i) => ({ id: `t${i}`, payload: i, ...options[i % 4] }));
  note(await queue.enqueueMany(tasks));
  note(await queue.enqueue(1, { dedup: { key: "k", window: "10s" }, idempotencyKey: "first" }));
  note(await queue.enqueue(2, { dedup: { key: "k", window: "10s" }, idempotencyKey: "second" }));
  note(await queue.enqueue(3, { id: "later", group: "capped", delay: 100 }));
  const worker = { name: "w", incarnation: "1", silentAfter: 400 };
  const first = note(await queue.dequeue({ max: 3, lease: 300, worker }));
  const second = note(await queue.dequeue({ max: 2, lease: 300 }));
  note(await queue.heartbeat(worker, { lease: 350 }));
  note(await first[0]?.complete("done"));
  note(await second[0]?.requeue({ unstarted: true }));
  note(await second[1]?.requeue({ delay: 20 }));
  note(await queue.cancel("t4"));
  note(await queue.enqueue("again", { id: first[0]?.id, again: true, group: "free" }));
  rig.now += 100;
  note(await queue.dequeue({ max: 2, lease: 300 }));
  // Not noted: like a sweep it continues where its first copy stopped, and reports its own count.
  await operator.failWorker({ name: "w", incarnation: "1" });
  note(await first[1]?.complete("too late"));
  rig.now += 300;
  await sweep(transport, { now: () => rig.now });
  const rest = note(await queue.dequeue({ max: 10, lease: 300 }));
  note(await queue.settle(rest.map(({ receipt }) => ({ receipt, outcome: "complete" as const }))));
  note(await queue.dequeue({ max: 10, lease: 5_000 }));
  note(await queue.counts());
};

/** The same for single calls that are made together and share requests. */
export const togetherDay: Scenario = async ({ queue, rig, note }) => {
  const together = async <T>(...calls: Promise<T>[]): Promise<T[]> => {
    const ends = await Promise.allSettled(calls);
    const values = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    note(ends.map((end) => (end.status === "fulfilled" ? end.value : (end.reason as { code: string }).code)));
    return values;
  };
  const dequeue = async (count: number, lease: number) => {
    const batches = await Promise.all(Array.from({ length: count }, () => queue.dequeue({ lease })));
    note(batches.map(seen));
    return batches.flat();
  };
  const dedup = { key: "k", window: "10s" } as const;
  await together(
    queue.enqueue("generated", { idempotencyKey: "key-0" }),
    queue.enqueue("chosen", { id: "chosen" }),
    queue.enqueue("other", { id: "chosen" }),
    queue.enqueue("keyed", { idempotencyKey: "key-1" }),
    queue.enqueue("keyed", { idempotencyKey: "key-1" }),
    queue.enqueue("not the same", { idempotencyKey: "key-1" }),
    queue.enqueue("unique", { id: "unique", dedup }),
    queue.enqueue("not unique", { id: "another", dedup }),
    queue.enqueue("delayed", { id: "delayed", delay: 100 }),
    queue.enqueue("grouped", { id: "grouped", group: "a" }),
  );
  const [a, b, c, d, e] = await dequeue(5, 300);
  if (!a || !b || !c || !d || !e) throw new Error("five tasks wait");
  await together(
    a.complete("result"),
    a.complete("twice"),
    b.extend(500, { progress: 1 }),
    b.extend(400, { progress: 2 }),
    c.requeue({ delay: 50 }),
    d.requeue({ unstarted: true }),
    e.reject("no"),
  );
  await together(b.extend(600, { progress: 3 }), a.complete("late"));
  rig.now += 300;
  const rest = await dequeue(3, 200);
  rig.now += 200;
  await together(...rest.map((task) => task.complete()), b.complete());
  await dequeue(2, 5_000);
  await together(queue.enqueue("l", { id: "left" }), queue.enqueue("o", { id: "over" }));
  await dequeue(2, 5_000);
  note(await queue.counts());
};

/** The same of schedules, in each of their states. The counts of sweeps are not compared. */
export const scheduleDay: Scenario = async ({ queue, transport, rig, note }) => {
  const schedules = new Schedules(QUEUE, { transport, now: () => rig.now });
  const minutely = { cron: "* * * * *", payload: 1 } as const;
  const sweepAll = () => sweep(transport, { now: () => rig.now });
  note(await schedules.put("last", minutely));
  note(await schedules.put("all", { every: "1m", payload: 2, missed: "all" }));
  note(await schedules.put("gone", minutely));
  rig.now += MINUTE;
  await sweepAll();
  note(await schedules.put("last", { ...minutely, payload: 3 }));
  note(await schedules.pause("all"));
  note(await schedules.remove("gone"));
  rig.now += 3 * MINUTE;
  await sweepAll();
  note(await schedules.resume("all"));
  note(await schedules.put("gone", { every: "1h", payload: 4 }));
  rig.now += 3 * MINUTE;
  await sweepAll();
  for (const id of ["last", "all", "gone"]) note(await schedules.get(id));
  const tasks = await queue.dequeue({ max: 20 });
  note(tasks.map(({ id, payload }) => [id, payload]));
};
