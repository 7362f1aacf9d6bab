import { expect, test } from "vitest";
import { drain, Queue } from "../../../src/index.ts";
import { openTelemetry } from "../../../src/features/tracing/open-telemetry.ts";
import { useBilled } from "../../support/billed.ts";
import { many } from "../../support/new-tasks.ts";
import { useTraces } from "./traces.ts";

useTraces();
const billed = useBilled();

test("traces cost no Redis command", async () => {
  const costs = async (options: object) => {
    const queue = new Queue(billed.queue.name, { transport: billed.queue["transport"], ...options });
    const enqueue = await billed.cost(() => queue.enqueue(1));
    const dequeue = await billed.cost(() => queue.dequeue());
    await drain(queue, () => {});
    const enqueueMany = await billed.cost(() => queue.enqueueMany(many(10)));
    const tasks = await queue.dequeue({ max: 10 });
    const receipts = tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const }));
    const settle = await billed.cost(() => queue.settle(receipts));
    await queue.enqueueMany(many(10));
    const drained = await billed.cost(() => drain(queue, () => {}, { batch: 10, concurrency: 10 }));
    return { enqueue, dequeue, enqueueMany, settle, drained };
  };
  // The first round leaves what later ones find.
  await costs({});
  const untraced = await costs({});
  expect(await costs({ tracing: openTelemetry() })).toEqual(untraced);
});
