import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Command, EnqueueOptions, Queue, Transport } from "../../src/index.ts";
import { dequeueScript } from "../../src/kernel/scripts/take-scripts.ts";
import { many } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";

// On a simulated clock of this process and of Redis. test/unit/long-poll has what a long poll does at which time.
const rig = useRig();
let queue: Queue;
/** How many requests are under way, and how many were sent with a dequeue. */
let [underWay, dequeues] = [0, 0];
let began = 0;
const now = () => Math.floor(START + performance.now() - began);

const isTime = (command: Command | undefined) => Array.isArray(command) && command[0] === "TIME";
const isDequeue = (command: Command) => "script" in command && command.script === dequeueScript.script;
/** A dequeue reads a test's clock once, before it waits. */
const atThisTime = (command: Command): Command =>
  "script" in command && isDequeue(command)
    ? { ...command, args: command.args.with(dequeueScript.args.indexOf("testNow"), String(now())) }
    : command;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  [underWay, dequeues, began] = [0, 0, performance.now()];
  const transport: Transport = {
    async send(commands, options) {
      underWay++;
      if (commands.some(isDequeue)) dequeues++;
      const outcomes = await rig.transport.send(commands.map(atThisTime), options).finally(() => underWay--);
      const time = [String(Math.floor(now() / 1_000)), String((now() % 1_000) * 1_000)];
      return outcomes.map((outcome, i) => (isTime(commands[i]) ? { reply: time } : outcome));
    },
  };
  queue = rig.queue({ transport, now });
});
afterEach(() => void vi.useRealTimers());

/** Lets time pass until the call has ended, and makes another call when 0.3 s are over. */
async function passing<T>(call: Promise<T>, meanwhile: () => Promise<unknown> = async () => {}): Promise<T> {
  const is = { over: false, made: false };
  const over = () => void (is.over = true);
  call.then(over, over);
  while (!is.over) {
    await setImmediate();
    if (underWay > 0) continue;
    if (!is.made && now() >= START + 300) {
      is.made = true;
      await meanwhile();
    } else await vi.advanceTimersToNextTimerAsync();
  }
  return call;
}

/** How much time has passed, s. */
const seconds = () => (now() - START) / 1_000;

describe("a dequeue that waits", () => {
  test("answers at once if a task is pending", async () => {
    await queue.enqueue(1);
    expect([...(await passing(queue.dequeue({ wait: "20s" })))]).toMatchObject([{ payload: 1 }]);
    expect([seconds(), dequeues]).toEqual([0, 1]);
  });

  test.each<[what: string, options: EnqueueOptions]>([
    ["", {}],
    [" of a group", { group: "g" }],
    [" with a group and a priority", { group: "g", priority: 9 }],
  ])("answers when a task%s comes, long before its time is over", async (_, options) => {
    const waiting = queue.dequeue({ wait: "20s", max: 5 });
    expect(await passing(waiting, () => queue.enqueueMany(many(2, options)))).toHaveLength(2);
    // Not by the call that it repeats every ten seconds.
    expect(seconds()).toBeLessThan(1);
  });

  test("answers when a delayed task is due, without a sweep, in few calls", async () => {
    await queue.enqueue("later", { delay: 700 });
    expect([...(await passing(queue.dequeue({ wait: "20s" })))]).toMatchObject([{ payload: "later" }]);
    expect([seconds(), dequeues]).toEqual([0.7, 2]);
  });

  test("answers when the lease of another holder expires", async () => {
    await queue.enqueue("lost");
    await queue.enqueue("later", { delay: "1h" });
    await queue.dequeue({ lease: "3s" });
    const batch = await passing(queue.dequeue({ wait: "20s" }));
    expect([...batch]).toMatchObject([{ payload: "lost", attempt: 2 }]);
    // At its expiry, and not with the later due task or at the next call.
    expect(seconds()).toBe(3);
  });

  test("ends when its signal aborts", async () => {
    const controller = new AbortController();
    const waiting = queue.dequeue({ wait: "1m", signal: controller.signal });
    const refused = expect(waiting).rejects.toMatchObject({ code: "aborted" });
    await passing(
      waiting.catch(() => {}),
      async () => controller.abort(),
    );
    await refused;
    expect(seconds()).toBeLessThan(1);
  });

  test("settles before it waits", async () => {
    await queue.enqueue(1, { id: "a" });
    const [task] = await queue.dequeue();
    const answer = queue.settleAndDequeue([{ receipt: task!.receipt, outcome: "complete" }], { wait: "20s" });
    const { settled, tasks } = await passing(answer, async () => {
      expect(await queue.get("a")).toMatchObject({ state: "completed" });
      await queue.enqueue(2);
    });
    expect([settled, [...tasks]]).toMatchObject([[{ ok: true }], [{ payload: 2 }]]);
  });
});

describe("a resend of a dequeue that waited", () => {
  test("gets the tasks that any of its calls leased, at once", async () => {
    const options = { wait: "20s", token: "token-01" } as const;
    const [task] = await passing(queue.dequeue(options), () => queue.enqueue(1));
    const [again] = await queue.dequeue(options);
    expect(again?.receipt).toBe(task?.receipt);
  });

  test("stays empty if the first one ended empty: a late copy leases nothing", async () => {
    expect(await passing(queue.dequeue({ wait: 50, token: "token-02" }))).toHaveLength(0);
    await queue.enqueue(1);
    expect(await queue.dequeue({ token: "token-02" })).toHaveLength(0);
    expect(await queue.dequeue()).toHaveLength(1);
  });
});
