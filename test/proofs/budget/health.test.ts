import { describe, expect, test } from "vitest";
import { queueHealth, Schedules } from "../../../src/index.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { examineScript } from "../../../src/operate/health/examine-script.ts";
import { useBilled } from "../../support/billed.ts";

// What it costs to find what is wrong: the figures of docs/costs.md and lua/README.md.

const billed = useBilled();

const args = { testNow: "", recent: "600000", late: "180000", never: "8640000000000001" };
const examine = () =>
  billed.cost(async () => {
    await billed.transport.send([callOf(examineScript, queueKeys(billed.queue.name), args)]);
  });

describe("the script examine costs", () => {
  test("3 commands for an empty queue, 13 for another, 1 more each with waiting tasks, working tasks, workers or a paused schedule", async () => {
    const { queue, transport } = billed;
    expect(await examine()).toBe(3);
    await new Schedules(queue.name, { transport }).put("later", { every: "1h", payload: 1 });
    expect(await examine()).toBe(13);
    await queue.enqueueMany(Array.from({ length: 30 }, (_, i) => ({ payload: i })));
    await queue.dequeue({ max: 20 });
    expect(await examine()).toBe(15);
    await queue.heartbeat({ name: "w" });
    expect(await examine()).toBe(16);
    await new Schedules(queue.name, { transport }).put("paused", { every: "1h", payload: 1, paused: true });
    expect(await examine()).toBe(17);
  });

  test("4 more if many tasks wait, attempts failed, and some were completed", async () => {
    const { queue } = billed;
    await queue.enqueueMany(Array.from({ length: 30 }, (_, i) => ({ payload: i })));
    const [task] = await queue.dequeue();
    expect(await examine()).toBe(16);
    await task!.requeue({ error: new Error("down") });
    await queue.dequeue();
    expect(await examine()).toBe(18);
  });

  test("no more with new dead letters, 2 more with 100", async () => {
    const { queue } = billed;
    await queue.enqueueMany(Array.from({ length: 100 }, (_, i) => ({ payload: i })));
    const tasks = await queue.dequeue({ max: 100 });
    for (const task of tasks.slice(1)) await task.reject();
    expect(await examine()).toBe(14);
    await tasks[0]!.reject();
    expect(await examine()).toBe(13 + 2);
  });

  test("at most 8 more with groups at a limit", async () => {
    const { queue, operator } = billed;
    for (let i = 0; i < 7; i++) await operator.configureGroup(`g${i}`, { maxWorking: 1 });
    const tasks = Array.from({ length: 14 }, (_, i) => ({ payload: i, group: `g${i % 7}` }));
    await queue.enqueueMany(tasks);
    await queue.dequeue({ max: 7 });
    expect(await examine()).toBe(14 + 7);
  });
});

test("the health of an empty queue costs 16 commands: 7 for it, 9 for the database and the list", async () => {
  const { transport, queue } = billed;
  await queueHealth(transport);
  expect(await billed.cost(async () => void (await queueHealth(transport, { queues: queue.name })))).toBe(16);
});
