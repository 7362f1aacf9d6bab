import { beforeEach, describe, expect, test, vi } from "vitest";
import { type Queue, sweep, type Waker } from "../../../src/index.ts";
import { abreast } from "../../support/abreast.ts";
import { START, useRig } from "../../support/rig.ts";
import { many } from "../../support/new-tasks.ts";

const rig = useRig();

let woken: string[];
const waker = (more: Partial<Waker> = {}): Waker => ({ wake: (queue) => woken.push(queue), ...more });
const producer = (more: Partial<Waker> = {}) => rig.queue({ wake: waker(more) });
const sweepOnce = (more: Partial<Waker> = {}) =>
  sweep(rig.transport, { now: () => rig.now, wake: waker(more) });
const field = async () => (await rig.space()).tasks.get("~wake");

beforeEach(() => {
  woken = [];
});

describe("an enqueue wakes a consumer", () => {
  test("again if it did not come within the window", async () => {
    const queue = producer({ window: "2s" });
    await queue.enqueue(1);
    rig.now += 1_999;
    await queue.enqueue(2);
    expect(woken).toHaveLength(1);
    rig.now += 1;
    await queue.enqueue(3);
    expect(woken).toHaveLength(2);
  });

  test.each([
    ["takes a task", (queue: Queue) => queue.dequeue()],
    [
      "takes a task, and completes another in the same call",
      async (queue: Queue) => {
        const [task] = await rig.queue().dequeue();
        return queue.settleAndDequeue([{ receipt: task?.receipt ?? "", outcome: "complete" }]);
      },
    ],
  ])("not for the window after one %s", async (_, take) => {
    const queue = producer();
    await queue.enqueueMany(many(3));
    rig.now += 3_000;
    await take(rig.queue());
    expect(await field()).toBe(`${START} ${START + 8_000} 5000`);
    rig.now += 4_999;
    await queue.enqueue("later");
    expect(woken).toHaveLength(1);
    rig.now += 1;
    await queue.enqueue("after it");
    expect(woken).toHaveLength(2);
  });

  test("not while one takes a task from behind many cancelled ones", async () => {
    const queue = producer();
    const ids = await queue.enqueueMany(many(900));
    await queue.enqueue("behind");
    await abreast(ids, ({ id }) => queue.cancel(id));
    expect(await queue.dequeue()).toHaveLength(1);
    expect(await field()).toBe(`${START} ${START + 5_000} 5000`);
    expect(woken).toHaveLength(1);
  });

  test("only for the waker's queues", async () => {
    const queue = producer({ queues: (name) => name !== "emails" });
    await queue.enqueue(1);
    expect([woken, await field()]).toEqual([[], undefined]);
    await expect(queue.wakeAnother()).rejects.toMatchObject({ code: "invalid_argument", path: "wake" });
  });

  test("and succeeds even if the wake fails", async () => {
    const onError = vi.fn();
    const queue = producer({ wake: () => Promise.reject(new Error("no route")), onError });
    expect(await queue.enqueue(1)).toMatchObject({ created: true });
    expect(onError.mock.calls).toEqual([[new Error("no route"), "emails"]]);
  });

  test("after the response, without waiting, if the platform can", async () => {
    const after: Promise<unknown>[] = [];
    let arrive = () => {};
    const wake = () => new Promise<void>((resolve) => (arrive = resolve));
    await producer({ wake, waitUntil: (promise) => after.push(promise) }).enqueue(1);
    expect(after).toHaveLength(1);
    arrive();
    await after[0];
  });
});

describe("a sweep wakes a consumer", () => {
  test("if a wake was lost a second ago or more, even within its window", async () => {
    await producer().enqueue(1);
    rig.now += 999;
    expect(await sweepOnce()).toMatchObject({ woken: 0 });
    rig.now += 1;
    expect(await sweepOnce()).toMatchObject({ woken: 1 });
    expect(await sweepOnce()).toMatchObject({ woken: 0 });
  });

  test("only of the waker's queues", async () => {
    await rig.queue().enqueue(1);
    expect(await sweepOnce({ queues: () => false })).toMatchObject({ woken: 0 });
  });
});
