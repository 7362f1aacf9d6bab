import { beforeEach, describe, expect, test } from "vitest";
import type { LeasedTask, Operator, Queue } from "../../src/index.ts";
import { useBilled } from "../support/billed.ts";
import { many, numbered } from "../support/new-tasks.ts";

// What a group's limit costs when it is reached. Until then it costs nothing: see features.test.ts.

const billed = useBilled();
const { cost } = billed;
let queue: Queue;
let operator: Operator;
beforeEach(() => void ({ queue, operator } = billed));

/** Enqueues tasks `t0`, `t1`, … of the group `a`. */
const add = (count: number) => queue.enqueueMany(numbered(count, { group: "a" }));

/** Runs a dequeue, and returns its cost and its tasks. */
async function dequeued(max: number): Promise<{ commands: number; tasks: readonly LeasedTask[] }> {
  let tasks: readonly LeasedTask[] = [];
  const commands = await cost(async () => (tasks = [...(await queue.dequeue({ max }))]));
  return { commands, tasks };
}

const complete = (tasks: readonly LeasedTask[]) =>
  cost(() => queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const }))));

describe("a group at its maxWorking", () => {
  test("costs 1 less to enqueue, nothing more to dequeue, 3 more to complete one or 50 tasks that admit others", async () => {
    await operator.configureGroup("a", { maxWorking: 1 });
    expect(await cost(() => queue.enqueue(1, { group: "a" }))).toBe(7);
    expect(await cost(() => queue.enqueue(1, { group: "a" }))).toBe(7 - 1);
    expect(await cost(() => add(100))).toBe(7 - 1);
    const one = await dequeued(10);
    expect([one.commands, one.tasks.length]).toEqual([13, 1]);
    expect(await complete(one.tasks)).toBe(8 + 3);
    await operator.configureGroup("a", { maxWorking: 50 });
    const fifty = await dequeued(100);
    expect([fifty.commands, fifty.tasks.length]).toEqual([13, 50]);
    expect(await complete(fifty.tasks)).toBe(8 + 3);
  });

  test("costs 9 to dequeue if all waiting tasks are held, in any number; 6 more to dequeue a plain task beside them", async () => {
    await operator.configureGroup("a", { maxWorking: 1 });
    await queue.enqueueMany(many(2, { group: "a" }));
    await queue.dequeue();
    expect(await dequeued(1)).toEqual({ commands: 9, tasks: [] });
    await queue.enqueueMany(many(100, { group: "a" }));
    expect(await dequeued(100)).toEqual({ commands: 9, tasks: [] });
    await queue.enqueueMany(many(2));
    expect((await dequeued(1)).commands).toBe(6 + 6);
  });

  test("costs 10 to cancel a held task, 16 to cancel one that admits another", async () => {
    await operator.configureGroup("a", { maxWorking: 10 });
    await add(100);
    expect(await cost(() => queue.cancel("t90"))).toBe(10);
    expect(await cost(() => queue.cancel("t0"))).toBe(16);
  });

  test("costs about 14, once, for each hundred waiting tasks if it is set over a backlog", async () => {
    await add(1_000);
    await operator.configureGroup("a", { maxWorking: 1 });
    expect((await dequeued(1)).commands).toBe(13);
    expect(await dequeued(1)).toEqual({ commands: 9 + 140, tasks: [] });
    expect(await dequeued(1)).toEqual({ commands: 9, tasks: [] });
  });
});

test("a group at its rate costs 1 more to dequeue, 2 if it sets a timer; 1 more to complete, and to be set; 9 to find nothing", async () => {
  await operator.configureGroup("a", { rate: { most: 2, per: "1h" } });
  await add(10);
  const [first, second] = [await dequeued(1), await dequeued(1)];
  expect([first.commands, second.commands]).toEqual([13 + 2, 13 + 1]);
  expect(await complete(first.tasks)).toBe(7 + 1);
  expect(await dequeued(1)).toEqual({ commands: 9, tasks: [] });
  expect(await cost(() => queue.enqueue(1, { group: "a" }))).toBe(7);
  expect(await cost(() => operator.configureGroup("a", { weight: 5 }))).toBe(7 + 1);
});
