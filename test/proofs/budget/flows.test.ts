import { describe, expect, test } from "vitest";
import { addFlow } from "../../../src/features/flows/add-flow.ts";
import type { FlowQueue } from "../../../src/features/flows/flow-tasks.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { Queue } from "../../../src/index.ts";
import { useBilled } from "../../support/billed.ts";

// What flows cost beside their tasks.

const billed = useBilled();

function open(name: string) {
  const queue = new Queue(name, { transport: linked(billed.transport) });
  const parts = queue as unknown as Pick<FlowQueue, "store" | "values">;
  return { queue, parts: { store: parts.store, values: parts.values, defaults: {}, schema: undefined } };
}

/** A queue that is registered, and has had a lone task. */
async function used(name: string) {
  const opened = open(name);
  await opened.queue.enqueue(1);
  const [task] = await opened.queue.dequeue();
  await task?.complete();
  return opened;
}

const task = <Q>(ref: string, queue: Q, after: readonly string[] = []): FlowItem<Q> => ({
  ref,
  queue,
  payload: ref,
  after,
});

describe("a flow costs", () => {
  test("at most 12 commands to add 100 tasks of one queue", async () => {
    const { parts } = await used("one");
    const items = Array.from({ length: 100 }, (_, i) =>
      task(`t${i}`, "one", i % 10 === 0 ? [] : [`t${i - 1}`]),
    );
    const cost = await billed.cost(() => addFlow(items, () => parts, {}));
    expect(cost).toBeLessThanOrEqual(12);
  });

  test("at most 3 commands for a task with a follower in its partition", async () => {
    const { queue, parts } = await used("two");
    await queue.enqueue("plain");
    const [plain] = await queue.dequeue();
    const alone = await billed.cost(async () => plain?.complete());
    await addFlow([task("a", "two"), task("b", "two", ["a"])], () => parts, {});
    const [first] = await queue.dequeue();
    expect(await billed.cost(async () => first?.complete())).toBeLessThanOrEqual(alone + 3);
  });

  test("at most 6 commands for one whose follower is in another queue", async () => {
    const { queue, parts } = await used("three");
    const other = await used("four");
    await queue.enqueue("plain");
    const [plain] = await queue.dequeue();
    const alone = await billed.cost(async () => plain?.complete());
    const queueOf = (name: string) => (name === "three" ? parts : other.parts);
    await addFlow([task("a", "three"), task("b", "four", ["a"])], queueOf, {});
    const [first] = await queue.dequeue();
    const cost = await billed.cost(async () => first?.complete());
    expect(cost).toBeLessThanOrEqual(alone + 6);
  });
});
