import { beforeEach, describe, expect, test } from "vitest";
import type { Command, Transport } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

// Real time: dequeues that wait follow the clocks of this process and of Redis.
const rig = useRig();
const queue = () => rig.queue({ now: undefined });

const isPull = (command: Command | undefined) =>
  command !== undefined && "script" in command && command.script.name === "dequeue";
let sent: Command[][];
const noting = (): Transport => ({
  send: (commands, options) => {
    sent.push([...commands]);
    return rig.transport.send(commands, options);
  },
});
const pulls = () => sent.filter(([command]) => isPull(command)).length;

beforeEach(() => {
  sent = [];
});

describe("a dequeue that waits", () => {
  test("answers at once if a task is pending", async () => {
    await queue().enqueue(1);
    const waiting = rig.queue({ now: undefined, transport: noting() });
    expect([...(await waiting.dequeue({ wait: "20s" }))]).toMatchObject([{ payload: 1 }]);
    expect(sent).toHaveLength(1);
  });

  test("answers when a task comes, long before its time is over", async () => {
    const began = performance.now();
    const waiting = queue().dequeue({ wait: "20s", max: 5 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await queue().enqueueMany([{ payload: "a" }, { payload: "b", group: "g" }]);
    expect(new Set((await waiting).map(({ payload }) => payload))).toEqual(new Set(["a", "b"]));
    // Not by the call that it repeats every ten seconds.
    expect(performance.now() - began).toBeLessThan(8_000);
  });

  test("answers when a task of a group comes, or one with a priority", async () => {
    const began = performance.now();
    const waiting = queue().dequeue({ wait: "20s" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await queue().enqueue(1, { group: "g", priority: 9 });
    expect([...(await waiting)]).toMatchObject([{ payload: 1, group: "g" }]);
    expect(performance.now() - began).toBeLessThan(8_000);
  });

  test("answers when a delayed task is due, without a sweep, in few calls", async () => {
    await queue().enqueue("later", { delay: 700 });
    const waiting = rig.queue({ now: undefined, transport: noting() });
    expect([...(await waiting.dequeue({ wait: "20s" }))]).toMatchObject([{ payload: "later" }]);
    expect(pulls()).toBeLessThanOrEqual(3);
  });

  test("answers when a task is due that was enqueued with a delay while it waited", async () => {
    const began = performance.now();
    const waiting = queue().dequeue({ wait: "20s" });
    await queue().enqueue("later", { delay: 2_500 });
    expect([...(await waiting)]).toMatchObject([{ payload: "later" }]);
    // Not at its next call, after ten seconds.
    expect(performance.now() - began).toBeLessThan(9_000);
  });

  test("answers when the lease of another holder expires", async () => {
    await queue().enqueue("lost");
    await queue().enqueue("later", { delay: "1h" });
    await queue().dequeue({ lease: "3s" });
    const began = performance.now();
    expect([...(await queue().dequeue({ wait: "20s" }))]).toMatchObject([{ payload: "lost", attempt: 2 }]);
    // At its expiry, and not with the later due task or at the next call.
    expect(performance.now() - began).toBeLessThan(8_000);
  });

  test("reports when the next task is due if its time is over before", async () => {
    await queue().enqueue(1, { delay: "1h" });
    const batch = await queue().dequeue({ wait: 50 });
    expect([batch.length, batch.paused]).toEqual([0, false]);
    expect(batch.nextDueAt).toBeGreaterThan(Date.now() + 3_500_000);
  });

  test("does not repeat its call quickly if a pause or a limit holds the tasks", async () => {
    await queue().enqueue(1);
    await rig.operator().pause();
    const waiting = rig.queue({ now: undefined, transport: noting() });
    expect(await waiting.dequeue({ wait: 1_500 })).toMatchObject({ length: 0, paused: true });
    expect(pulls()).toBeLessThanOrEqual(3);
    await rig.operator().resume();
    expect(await queue().dequeue({ wait: "20s" })).toHaveLength(1);
  });

  test("ends when its signal aborts", async () => {
    const waiting = queue().dequeue({ wait: "1m", signal: AbortSignal.timeout(100) });
    await expect(waiting).rejects.toMatchObject({ code: "aborted" });
  });

  test("is one of two that wait, of which one gets the task", async () => {
    const waiting = [queue().dequeue({ wait: 1_000 }), queue().dequeue({ wait: 1_000 })];
    await queue().enqueue(1);
    const batches = await Promise.all(waiting);
    expect(batches.flat()).toHaveLength(1);
  });

  test("settles before it waits", async () => {
    await queue().enqueue(1);
    const [task] = await queue().dequeue();
    const answer = queue().settleAndDequeue([{ receipt: task!.receipt, outcome: "complete" }], {
      wait: "20s",
    });
    await expect.poll(async () => (await queue().get(task!.id))?.state).toBe("completed");
    await queue().enqueue(2);
    const { settled, tasks } = await answer;
    expect([settled, [...tasks]]).toMatchObject([[{ ok: true }], [{ payload: 2 }]]);
  });

  test("refuses more than a minute", async () => {
    await expect(queue().dequeue({ wait: "61s" })).rejects.toMatchObject({
      code: "invalid_argument",
      path: "wait",
    });
  });
});

describe("a resend of a dequeue that waited", () => {
  test("gets the tasks that any of its calls leased, at once", async () => {
    const waiting = queue().dequeue({ wait: "20s", token: "token-01" });
    await new Promise((resolve) => setTimeout(resolve, 150));
    await queue().enqueue(1);
    const [task] = await waiting;
    const [again] = await queue().dequeue({ wait: "20s", token: "token-01" });
    expect(again?.receipt).toBe(task?.receipt);
  });

  test("stays empty if the first one ended empty: a late copy leases nothing", async () => {
    expect(await queue().dequeue({ wait: 50, token: "token-02" })).toHaveLength(0);
    await queue().enqueue(1);
    expect(await queue().dequeue({ token: "token-02" })).toHaveLength(0);
    expect(await queue().dequeue()).toHaveLength(1);
  });
});
