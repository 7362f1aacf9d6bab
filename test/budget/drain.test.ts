import { expect, test } from "vitest";
import { drain } from "../../src/consumer/drain/drain.ts";
import { useBilled } from "../support/billed.ts";
import { dice } from "../support/dice.ts";

// What a drain costs if its handlers end one by one. Requests are counted, not timed.

const TASKS = 600;

const billed = useBilled(async ({ queue }) => {
  await queue.enqueue("warm", { resultTtl: 0 });
  await drain(queue, ({ extend }) => extend());
});

test.each([
  ["batches chosen by the drain", undefined, 11],
  ["batches of 10", 10, 8],
])("handlers of 5 to 50 ms, twenty at once, %s: 1.5 commands a task", async (_, batch, tasksARequest) => {
  const random = dice(1);
  const durations = Array.from({ length: TASKS }, () => 5 + random() * 45);
  await billed.queue.enqueueMany(durations.map((payload) => ({ payload, resultTtl: 0 })));
  billed.gateway.resetUsage();
  const report = await drain(
    billed.queue,
    async ({ payload }) => {
      await new Promise((resolve) => setTimeout(resolve, payload as number));
    },
    { concurrency: 20, batch, budget: "60s" },
  );
  const { requests, commands } = billed.gateway.usage();
  expect(report.completed).toBe(TASKS);
  expect(TASKS / requests).toBeGreaterThanOrEqual(tasksARequest);
  expect(commands / TASKS).toBeLessThanOrEqual(1.5);
});
