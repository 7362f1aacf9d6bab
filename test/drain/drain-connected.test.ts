import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { expect, test } from "vitest";
import { Queue, SluiceError, type Transport } from "../../src/index.ts";
import { drain } from "../../src/drain/drain.ts";
import type { DrainOptions, Handler, Task } from "../../src/drain/types.ts";
import { many, numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { pause, reported } from "./draining.ts";

const rig = useRig();
useSimulatedTime(rig);

/** A queue whose requests pass through `onSend`, and the most dequeues that were under way at a time. */
function observed(connected: boolean, onSend: (dequeues: number) => void = () => {}) {
  const inner = rig.queue();
  const seen = { most: 0, sent: 0 };
  let dequeues = 0;
  const transport: Transport = {
    connected,
    async send(commands, options) {
      const leases = commands.some((command) => "script" in command && /dequeue/i.test(command.script.name));
      if (!leases) return inner["transport"].send(commands, options);
      seen.most = Math.max(seen.most, ++dequeues);
      onSend(++seen.sent);
      try {
        return await inner["transport"].send(commands, options);
      } finally {
        dequeues--;
      }
    },
  };
  return { queue: new Queue<number>(inner.name, { transport }), seen };
}

test.each<[at: number, drain: string, connected: boolean, Handler, DrainOptions]>([
  [2, "over TCP, if handlers are quick", true, () => undefined, { concurrency: 50 }],
  [2, "over TCP, if a single handler is quick", true, () => undefined, { concurrency: 1 }],
  [1, "over TCP, if handlers take longer", true, () => pause(1), { concurrency: 5 }],
  [1, "over TCP with a batch", true, () => undefined, { batch: 100 }],
  [1, "over TCP with a number of requests", true, () => undefined, { requests: 1_000, requestsPerTask: 0 }],
  [1, "over HTTP", false, () => undefined, { concurrency: 50 }],
])("at most %i dequeues are under way in a drain %s", async (most, _, connected, handler, options) => {
  const { queue, seen } = observed(connected);
  await queue.enqueueMany(numbered(1_000));
  const begun: number[] = [];
  const report = await drain(
    queue,
    (task) => {
      begun.push(task.payload);
      return handler(task);
    },
    options,
  );
  expect(report).toEqual(reported({ completed: 1_000 }));
  expect(begun).toEqual(Array.from({ length: 1_000 }, (_each, i) => i));
  expect(seen.most).toBe(most);
});

test.each<[over: string, connected: boolean, wait: number]>([
  ["TCP", true, 0],
  ["HTTP", false, 5],
])(
  "over %s (%s) a handler that has ended waits %i ms for others, if no task waits",
  async (_, connected, wait) => {
    const { queue } = observed(connected);
    await queue.enqueueMany(numbered(3));
    const start = performance.now();
    const begun: number[] = [];
    await drain(
      queue,
      async () => {
        begun.push(performance.now() - start);
        await pause(begun.length === 1 ? 100 : 300);
      },
      { concurrency: 2, batch: 2 },
    );
    expect(begun).toEqual([0, 0, 100 + wait]);
  },
);

test("if one of two dequeues fails, all tasks of the other one are settled or handed back", async () => {
  const { queue } = observed(true, (sent) => {
    if (sent === 4) throw new SluiceError("redis_unreachable", "it does not answer");
  });
  await queue.enqueueMany(many(1_000));
  const drained = drain(queue, () => undefined, { concurrency: 50 });
  await expect(drained).rejects.toMatchObject({ code: "redis_unreachable" });
  const { working, pending } = await rig.queue().counts();
  expect([working, pending > 0]).toEqual([0, true]);
});

test("V8 can discard a task when its handler has ended: it has no getter of its own", async () => {
  const queue = rig.queue();
  await queue.enqueue(1);
  let task: Task | undefined;
  await drain(queue, (given) => void (task = given));
  setFlagsFromString("--allow-natives-syntax");
  const isFast = runInThisContext("(task) => %HasFastProperties(task)") as (task: unknown) => boolean;
  const fast = isFast(task);
  setFlagsFromString("--no-allow-natives-syntax");
  expect(fast).toBe(true);
});
