import { vi } from "vitest";
import { Operator, sweep, type LeasedTask, type Queue } from "../../src/index.ts";
import type { Command, CommandOutcome, Transport } from "../../src/queue/redis/transport.ts";
import { newToken } from "../../src/queue/core/ids.ts";
import { queueSpace, type KeySpace } from "./key-space.ts";
import { QUEUE, START, type Rig } from "./rig.ts";

/** The commands as every copy after the first sends them. */
function asResend(commands: readonly Command[]): Command[] {
  return commands.map((command) =>
    "script" in command && command.resendArgs ? { ...command, args: command.resendArgs } : command,
  );
}

/** The disturbance of one request, counted from 0. */
export type Disturbance =
  /** It runs, its reply is lost, and it is sent again. */
  | { kind: "lost"; at: number }
  /** It is sent again and answered; the first copy runs only after a later request. */
  | { kind: "late"; at: number; after: number };

function disturbed(inner: Transport, disturbance: Disturbance | undefined) {
  let sent = 0;
  let late: readonly Command[] | undefined;
  const transport: Transport = {
    async send(commands, options) {
      const index = sent++;
      let outcomes: CommandOutcome[];
      if (disturbance?.at !== index) outcomes = await inner.send(commands, options);
      else {
        if (disturbance.kind === "lost") await inner.send(commands, options);
        else late = commands;
        outcomes = await inner.send(asResend(commands), options);
      }
      if (disturbance?.kind === "late" && disturbance.after === index && late)
        await inner.send(late, options);
      return outcomes;
    },
  };
  return { transport, requests: () => sent };
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
export async function run(rig: Rig, scenario: Scenario, disturbance?: Disturbance, over = rig.transport) {
  await rig.command("FLUSHALL");
  fixChance();
  rig.now = START;
  const { transport, requests } = disturbed({ send: over.send }, disturbance);
  const answers = await scenario(rig.queue({ transport }), transport, rig);
  const space = withoutSlots(await rig.keySpace());
  // After the resend window nothing else is left either.
  rig.now += 300_000;
  await rig.sweepOnce();
  return { answers, requests: requests(), space, later: withoutSlots(await rig.keySpace()) };
}

/** The key space without the memory of calls, in which a resent dequeue leaves a mark. */
function withoutSlots(space: KeySpace) {
  const { tasks, ...rest } = queueSpace(space, QUEUE);
  return {
    ...rest,
    tasks: [...tasks].filter(([field]) => !field.startsWith("~r")),
    registry: space["sluice:queues"],
  };
}

export type Scenario = (queue: Queue, transport: Transport, rig: Rig) => Promise<unknown>;

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
export const day: Scenario = async (queue, transport, rig) => {
  const answers: unknown[] = [];
  const note = <T>(answer: T): T => {
    answers.push(
      Array.isArray(answer) && answer[0]?.receipt && "payload" in answer[0] ? seen(answer) : answer,
    );
    return answer;
  };
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
  return answers;
};

/** The same with groups, priorities, limits, keys, workers and settings. */
export const sharedDay: Scenario = async (queue, transport, rig) => {
  const answers: unknown[] = [];
  const note = <T>(answer: T): T => {
    const isBatch = Array.isArray(answer) && answer[0]?.receipt && "payload" in answer[0];
    answers.push(isBatch ? seen(answer) : answer);
    return answer;
  };
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
  return answers;
};

/** The same for single calls that are made together and share requests. */
export const togetherDay: Scenario = async (queue, _, rig) => {
  const answers: unknown[] = [];
  const together = async <T>(...calls: Promise<T>[]): Promise<T[]> => {
    const ends = await Promise.allSettled(calls);
    const values = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    answers.push(
      ends.map((end) => (end.status === "fulfilled" ? end.value : (end.reason as { code: string }).code)),
    );
    return values;
  };
  const dequeue = async (count: number, lease: number) => {
    const batches = await Promise.all(Array.from({ length: count }, () => queue.dequeue({ lease })));
    answers.push(batches.map(seen));
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
  answers.push(await queue.counts());
  return answers;
};
