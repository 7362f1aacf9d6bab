import { beforeEach, describe, expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import {
  type EnqueueOptions,
  type LeasedTask,
  Operator,
  Queue,
  type QueueChanges,
  type Transport,
} from "../../../src/index.ts";
import { run } from "../../../src/kernel/call.ts";
import {
  holdLinesScript,
  listLinesScript,
  moveSlotsScript,
} from "../../../src/kernel/linked/hold-scripts.ts";
import { Shard } from "../../../src/kernel/shard.ts";
import { useBilled } from "../../support/billed.ts";
import { expectRow } from "../../support/costs-page.ts";
import { many } from "../../support/new-tasks.ts";

// What strict order costs, in commands as Upstash bills them; and that the linked edition, which knows it, costs
// tasks without an order no more than the plain one.

const billed = useBilled();
const { cost } = billed;

/** The cost of a lone task, of a hundred, of a retry, and of an empty queue. */
async function prices(transport: Transport, options: EnqueueOptions, name: string) {
  const queue = new Queue(name, { transport });
  await queue.enqueue(0, options);
  const batch = await queue.dequeue();
  const lone = await cost(async () => {
    await queue.enqueue(1, options);
    await queue.settleAndDequeue(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    const [task] = await queue.dequeue();
    await task?.requeue();
  });
  const hundred = await cost(async () => {
    await queue.enqueueMany(many(100, options));
    const tasks = await queue.dequeue({ max: 100 });
    await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
  });
  await queue.dequeue({ max: 100 });
  return [lone, hundred, await cost(() => queue.dequeue()), await cost(() => queue.cancel("none"))];
}

describe("the linked edition costs as much as the plain one", () => {
  test.each<[string, EnqueueOptions, QueueChanges]>([
    ["for plain tasks", {}, {}],
    ["for tasks of a group", { group: "a" }, {}],
    ["for tasks with a priority", { priority: 3 }, {}],
    ["for delayed tasks", { delay: "1h" }, {}],
    ["in a queue with limits", { group: "a" }, { maxWorking: 500, statistics: true }],
  ])("%s", async (_, options, settings) => {
    const all: unknown[] = [];
    for (const [name, transport] of Object.entries({
      plain: billed.transport,
      linked: linked(billed.transport),
    })) {
      if (Object.keys(settings).length > 0)
        await new Operator(name, { transport: billed.transport }).configure(settings);
      all.push(await prices(transport, options, name));
    }
    expect(all[1]).toEqual(all[0]);
  });
});

describe("a task of a group in strict order", () => {
  let ledger: Queue;
  let operator: Operator;
  beforeEach(async () => {
    const transport = linked(billed.transport);
    ledger = new Queue("ledger", { transport });
    operator = new Operator("ledger", { transport });
    await operator.configure({ order: "strict", onDead: "stop" });
    await ledger.enqueue(0, { group: "other" });
  });
  const take = async () => (await ledger.dequeue())[0] as LeasedTask;

  /** The costs of a task alone in its group. */
  async function alone(queue: Queue): Promise<number[]> {
    await (await queue.dequeue())[0]?.complete();
    let task: LeasedTask | undefined;
    const enqueue = await cost(() => queue.enqueue(1, { group: "a" }));
    const dequeue = await cost(async () => ([task] = await queue.dequeue()));
    return [enqueue, dequeue, await cost(async () => task?.complete())];
  }

  test("costs 8 to enqueue, 14 to dequeue, 9 to complete, each 1 more than without an order", async () => {
    expect(await alone(ledger)).toEqual([8, 14, 9]);
    const free = new Queue("free", { transport: linked(billed.transport) });
    await free.enqueue(0, { group: "other" });
    expect(await alone(free)).toEqual([7, 13, 8]);
  });

  test("costs no more to enqueue in line, and 4 more to complete before another", async () => {
    await (await take()).complete();
    await ledger.enqueue(1, { group: "a" });
    const task = await take();
    expect(await cost(() => ledger.enqueue(1, { group: "a" }))).toBe(8);
    expect(await cost(() => task.complete())).toBe(13);
  });

  test("costs 11 for an operator to let its group go on, and 4 to see which groups are stopped", async () => {
    await ledger.enqueueMany(["a1", "a2"].map((id) => ({ payload: 1, id, group: "a" })));
    await (await take()).complete();
    await (await take()).reject();
    expect(await cost(() => operator.stoppedGroups())).toBe(4);
    expect(await cost(() => operator.skip("a1"))).toBe(11);
    expect(await cost(() => operator.skip("a1"))).toBe(5);
    expect(await cost(() => operator.skip("a2"))).toBe(2);
    expect(await cost(() => operator.stoppedGroups())).toBe(3);
  });

  test("costs 8 to hold its group while partitions change, 11 to let it go on, 2 to page through lines", async () => {
    const shard = new Shard({ name: "ledger", transport: billed.transport });
    const hold = (was: string, next: string) =>
      cost(() =>
        run(
          billed.transport,
          shard.call(holdLinesScript, { version: "", step: "", wake: "" }, [{ group: "a", was, hold: next }]),
        ),
      );
    const page = { cursor: "0", size: "1000" };
    expect(await hold("", "3,1")).toBe(8);
    await ledger.enqueue(1, { group: "a" });
    expect(await cost(() => run(billed.transport, shard.call(listLinesScript, page)))).toBe(2);
    expect(await hold("3,1", "")).toBe(11);
    const slots = { version: "1", owned: "f".repeat(64) };
    expect(await cost(() => run(billed.transport, shard.call(moveSlotsScript, slots)))).toBe(4);
  });

  test("costs what docs/costs.md says of a ledger: enqueued in hundreds, worked on in twenties", async () => {
    await (await take()).complete();
    const entries = many(100).map((entry, i) => ({ ...entry, group: `account-${i % 20}` }));
    const commands = await cost(async () => {
      await ledger.enqueueMany(entries);
      let tasks = await ledger.dequeue({ max: 100 });
      while (tasks.length > 0) {
        expect(tasks).toHaveLength(20);
        const done = tasks.map(({ receipt }) => ({ receipt, outcome: "complete" }) as const);
        ({ tasks } = await ledger.settleAndDequeue(done, { max: 100 }));
      }
    });
    expectRow("a ledger", 1_000_000, commands / 100);
  });
});
