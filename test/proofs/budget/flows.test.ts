import { describe, expect, test } from "vitest";
import { addFlow } from "../../../src/features/flows/add-flow.ts";
import type { FlowQueue } from "../../../src/features/flows/flow-tasks.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { flow, flows, withFlows } from "../../../src/http/flows/index.ts";
import { Queue, sweep } from "../../../src/index.ts";
import { useBilled } from "../../support/billed.ts";
import { expectRow } from "../../support/costs-page.ts";

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

test("a nightly import costs what docs/costs.md says: a fetch that adds 98 chunks in front of a report", async () => {
  const [imports, mails] = ["imports", "mails"].map((name) =>
    withFlows(new Queue<number>(name, { transport: billed.transport })),
  ) as [ReturnType<typeof withFlows<number, number>>, ReturnType<typeof withFlows<number, number>>];
  const chunks = Array.from({ length: 98 }, (_, i) => ({ ref: `chunk-${i}`, queue: imports, payload: i }));
  const complete = ({ receipt }: { readonly receipt: string }) => ({ receipt, outcome: "complete" }) as const;
  const night = () =>
    billed.cost(async () => {
      await flow(
        { ref: "fetch", queue: imports, payload: 0 },
        { ref: "report", queue: mails, payload: 0, after: { ref: "fetch", on: "ended" } },
      );
      const fetched = await imports.dequeue({ max: 100 });
      await fetched[0]?.addBefore("report", chunks);
      const { tasks } = await imports.settleAndDequeue(fetched.map(complete), { max: 100 });
      expect(tasks).toHaveLength(98);
      await imports.settle(tasks.map(complete));
      const [report] = await mails.dequeue({ max: 100 });
      expect(Object.keys((await report?.before()) ?? {})).toHaveLength(99);
      await report?.complete();
    });
  const swept = () => billed.cost(() => sweep(billed.transport, { also: [flows] }));
  await night();
  await swept();
  const plain = await billed.cost(() => sweep(billed.transport));
  const commands = (await night()) + (await swept()) - plain;
  expectRow("a nightly import as a", 30 * 100, commands / 100, 2);
  // While no flow is left, cron costs the same as without flows.
  expect(await swept()).toBe(plain);
});
