/** A request that settles and dequeues, of which one command fails. */
import { afterEach, expect, test, vi } from "vitest";
import { type LeasedTask, Queue, SluiceError, type Transport } from "../../../src/index.ts";
import type { ScriptCall } from "../../../src/kernel/transport.ts";
import { instances } from "../../support/instances.ts";
import { numbered } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });
const { over, queueOf, resize } = instances(rig);

afterEach(() => void vi.restoreAllMocks());

const FAILURE = new SluiceError("redis_unreachable", "the node is down");

/** A queue with 2 partitions, and a task that is leased in each. */
async function leasedInBoth(fails: (call: ScriptCall) => boolean) {
  let isDown = false;
  const transport: Transport = {
    cluster: true,
    send: async (commands, options) => {
      const outcomes = await rig.transport.send(commands, options);
      return outcomes.map((outcome, i) => {
        const command = commands[i];
        return isDown && command && "script" in command && fails(command) ? { error: FAILURE } : outcome;
      });
    },
  };
  const queue = queueOf<number>(2, transport);
  await resize(2);
  const leased: LeasedTask<number>[] = [];
  for (let i = 0; leased.length < 2; i++) {
    await queue.enqueue(i, { id: `first${i}` });
    const [task] = await queue.dequeue();
    const isOf = (one: typeof task) => one?.receipt.startsWith("2.1.") === true;
    if (task && leased.every((one) => isOf(one) !== isOf(task))) leased.push(task);
    else await task?.complete();
  }
  await queue.enqueueMany(numbered(20, {}, "next"));
  return { queue, transport, leased, fail: () => (isDown = true), repair: () => (isDown = false) };
}

test("a failed dequeue does not hide which tasks became dead letters", async () => {
  const { leased, transport, fail } = await leasedInBoth(({ script }) => script.name === "dequeue");
  const dead: string[] = [];
  const queue = new Queue(QUEUE, { ...over(transport, 2), onDeadLetter: ({ id }) => dead.push(id) });
  const task = leased.find(({ receipt }) => receipt.startsWith("2.1.")) as LeasedTask<number>;
  // It begins with the other partition.
  vi.spyOn(Math, "random").mockReturnValue(0);
  fail();
  const settlements = [{ receipt: task.receipt, outcome: "reject" as const }];
  await expect(queue.settleAndDequeue(settlements)).rejects.toBe(FAILURE);
  expect(dead).toEqual([task.id]);
});

const isHandBack = ({ args }: ScriptCall) => args.includes("unstarted");

test.each([
  ["a settle", (call: ScriptCall) => call.script.name === "settle" && !isHandBack(call)],
  ["the look at another partition", ({ script }: ScriptCall) => script.name === "head"],
  ["the read of the registry", ({ script }: ScriptCall) => script.name === "listWork"],
])("hands back what it leased if %s fails", async (_, fails) => {
  const { queue, leased, fail, repair } = await leasedInBoth(fails);
  // What the queue knows of its partitions is old by then, so that it looks again.
  rig.now += 10_000;
  fail();
  const settlements = leased.map(({ receipt }) => ({ receipt, outcome: "complete" as const }));
  await expect(queue.settleAndDequeue(settlements, { max: 5 })).rejects.toBe(FAILURE);
  repair();
  await expect.poll(() => queue.counts(), { timeout: 20_000 }).toMatchObject({ pending: 20, working: 0 });
  const settled = await queue.settle(settlements);
  expect(settled.map(({ ok }) => ok)).toEqual([true, true]);
  const charged = await Promise.all(Array.from({ length: 20 }, (__, i) => queue.get(`next${i}`)));
  expect(charged.map((task) => task?.charged)).toEqual(Array.from({ length: 20 }, () => 0));
});
