import { expect, test, vi } from "vitest";
import { drain, Operator, Queue, queueHealth, type Task } from "../../../src/index.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();

test("a handler that hangs is found while its drain extends the lease; failing the worker fences it (law 6)", async () => {
  const { transport } = rig;
  const queue = new Queue(QUEUE, { transport });
  await queue.enqueue(1, { id: "hangs", lease: "1s" });
  let release = () => {};
  const hang = new Promise<void>((resolve) => (release = resolve));
  const handler = async ({ attempt }: Task) => {
    if (attempt > 1) return "second";
    await hang;
    return "late";
  };
  const draining = drain(queue, handler, { budget: "5m", concurrency: 1, worker: { name: "mailer-1" } });
  const look = async () => {
    const { findings } = await queueHealth(transport, { after: "1s" });
    return findings.find((one) => "queue" in one);
  };
  expect(await vi.waitUntil(look, { timeout: 60_000, interval: 100 })).toMatchObject({
    code: "nothing_ends",
    status: "warning",
    found: expect.stringMatching(/^1 working, the longest for \d+s, and nothing was taken for \d+s$/),
  });
  const failed = await new Operator(QUEUE, { transport }).failWorker("mailer-1");
  expect(failed).toEqual({ returned: 1, rejected: 0, more: false });
  release();
  // The same drain takes the task again.
  expect(await draining).toMatchObject({ completed: 1, lost: 1 });
  expect(await queue.get("hangs")).toMatchObject({ state: "completed", attempt: 2, result: "second" });
  expect(await look()).toBeUndefined();
});
