import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { drain, withScaleOut } from "../../src/index.ts";
import { memoryHeld } from "../support/garbage.ts";
import { many } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { failing, hanging, noting, reported } from "./draining.ts";

const rig = useRig();
let woken: string[];
const queue = (transport = rig.transport) =>
  rig.queue({ transport, wake: { wake: (name) => woken.push(name), window: 100 } });

/** Redis's clock and that of this process. */
const pass = (ms: number) => {
  rig.now += ms;
  vi.advanceTimersByTime(ms);
};

beforeEach(async () => {
  woken = [];
  vi.useFakeTimers({ toFake: ["performance"] });
  await rig.queue().enqueueMany(many(20));
});
afterEach(() => void vi.useRealTimers());

test("another consumer is called when a pull comes back full", async () => {
  const source = withScaleOut(queue());
  expect(await source.dequeue({ max: 10 })).toHaveLength(10);
  await expect.poll(() => woken).toEqual(["emails"]);
  pass(5_000);
  const { tasks } = await source.settleAndDequeue([]);
  expect(tasks).toHaveLength(1);
  await expect.poll(() => woken).toEqual(["emails", "emails"]);
});

test("no consumer is called when a pull is not full", async () => {
  const { transport, sent } = noting(rig.transport);
  const source = withScaleOut(queue(transport));
  expect(await source.dequeue({ max: 21 })).toHaveLength(20);
  expect(await source.dequeue()).toHaveLength(0);
  expect((await source.settleAndDequeue([], { max: 2 })).tasks).toHaveLength(0);
  await rig.queue().counts();
  expect([sent.flat(), woken]).toEqual([["dequeue", "dequeue", "dequeue"], []]);
});

test("it asks once a second at most", async () => {
  const { transport, sent } = noting(rig.transport);
  const source = withScaleOut(queue(transport));
  for (let i = 0; i < 4; i++) {
    await source.dequeue();
    pass(500);
  }
  await rig.queue().counts();
  expect(sent.flat().filter((name) => name === "wake")).toHaveLength(2);
});

test("a failure of its call does not affect the drain", async () => {
  const transport = failing(rig, (_, scripts) => (scripts === "wake" ? "before" : undefined));
  expect(await withScaleOut(queue(transport)).dequeue()).toHaveLength(1);
  expect(await withScaleOut(rig.queue()).dequeue()).toHaveLength(1);
});

test("a drain ends after the wakes that its source has begun", async () => {
  const wake = async (name: string) => {
    await expect.poll(() => rig.queue().counts()).toMatchObject({ pending: 0, working: 0 });
    woken.push(name);
  };
  const source = withScaleOut(rig.queue({ wake: { wake, window: 100 } }));
  expect(await drain(source, () => {}, { batch: 10 })).toEqual(reported({ completed: 20 }));
  expect(woken).toEqual(["emails"]);
});

test("a wake that hangs does not delay the end of a drain beyond its budget, nor an abort", async () => {
  const source = () => withScaleOut(rig.queue({ wake: { wake: hanging, window: 100 } }));
  const whole = await drain(source(), () => {}, { batch: 10, budget: 200 });
  expect(whole).toEqual(reported({ completed: 20 }));
  await rig.queue().enqueueMany(many(10));
  pass(5_000);
  const stop = new AbortController();
  const options = { batch: 10, budget: "1h", signal: stop.signal } as const;
  const aborted = await drain(source(), () => stop.abort(), options);
  expect(aborted).toMatchObject({ completed: 1, handedBack: 9, ended: "aborted" });
});

test("a drain of many full pulls keeps nothing of them", async () => {
  const calls = { dequeue: async () => [{}], settle: async () => [], settleAndDequeue: async () => ({}) };
  const wakeAnother = async () => pass(1_000);
  const source = withScaleOut({ name: "q", wakeAnother, ...calls } as unknown as Parameters<
    typeof withScaleOut
  >[0]);
  const pulls = async () => {
    for (let i = 0; i < 50_000; i++) await source.dequeue();
    return memoryHeld();
  };
  const before = await pulls();
  expect((await pulls()) - before).toBeLessThan(2_000_000);
});
