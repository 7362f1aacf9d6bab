/** Calls of which a request ran on the queue's own keys, but whose reply was lost before the queue got partitions. */
import { expect, test } from "vitest";
import type { Settled, Settlement, Transport } from "../../../src/index.ts";
import { instances } from "../../support/instances.ts";
import { named } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const { instance, queueOf, operatorOf, schedulesOf, resize } = instances(rig);

/**
 * A transport that sends one request again, because its reply was lost. The queue gets partitions in between.
 * @param lost which request, from 0
 */
function losing(lost: number) {
  let requests = 0;
  const transport: Transport = {
    async send(...sent) {
      const outcomes = await rig.transport.send(...sent);
      if (requests++ !== lost) return outcomes;
      await resize(4);
      return rig.transport.send(...sent);
    },
  };
  return { transport, wasLost: () => requests > lost };
}

/** Of a dequeue that gets the same tasks again. */
const token = "tokentokentoken1";
const withoutReceipt = ({ receipt: _, ...settled }: Settled) => settled;
const settle = async (transport: Transport, settlements: readonly Settlement[]) =>
  (await queueOf(undefined, transport).settle(settlements)).map(withoutReceipt);

const calls: Record<string, (transport: Transport, receipts: readonly string[]) => Promise<unknown>> = {
  "Schedules.put, of a new schedule": (transport) =>
    schedulesOf(transport).put("new", { every: "1h", payload: 1 }),
  "Schedules.put, of another": (transport) =>
    schedulesOf(transport).put("hourly", { every: "2h", payload: 1 }),
  "Schedules.pause": (transport) => schedulesOf(transport).pause("hourly"),
  "Schedules.resume": (transport) => schedulesOf(transport).resume("paused"),
  "Schedules.remove": (transport) => schedulesOf(transport).remove("hourly"),
  "Queue.enqueue": (transport) => queueOf(undefined, transport).enqueue(1, { id: "d" }),
  async "Queue.enqueueMany, with generated ids"(transport) {
    const queue = queueOf(undefined, transport);
    const tasks = Array.from({ length: 20 }, (_, i) => ({ payload: i, group: `g${i}` }));
    const added = await queue.enqueueMany(tasks);
    return [added.map(({ created }) => created), (await queue.counts()).pending];
  },
  "Queue.settle, of one task": (transport, [receipt = ""]) =>
    settle(transport, [{ receipt, outcome: "complete" }]),
  "Queue.settle, of a task to try again": (transport, [receipt = ""]) =>
    settle(transport, [{ receipt, outcome: "requeue" }]),
  "Queue.settle, of several": (transport, receipts) =>
    settle(
      transport,
      receipts.map((receipt) => ({ receipt, outcome: "reject", error: "no" })),
    ),
  "Queue.settleAndDequeue": async (transport, [receipt = ""]) => {
    const queue = queueOf(undefined, transport);
    const { settled, tasks } = await queue.settleAndDequeue([{ receipt, outcome: "complete" }], { token });
    return [settled.map(withoutReceipt), tasks.map(({ id }) => id)];
  },
  "Queue.dequeue": async (transport) =>
    (await queueOf(undefined, transport).dequeue({ token })).map(({ id }) => id),
  "Queue.cancel": (transport) => queueOf(undefined, transport).cancel("c"),
  "Operator.configure": (transport) => operatorOf(undefined, transport).configure({ maxWorking: 9 }),
  "Operator.configureGroup": (transport) =>
    operatorOf(undefined, transport).configureGroup("g", { maxWorking: 9 }),
  "Operator.deleteQueue": (transport) => operatorOf(undefined, transport).deleteQueue({ force: true }),
};

async function prepared(): Promise<string[]> {
  await rig.command("FLUSHALL");
  const queue = queueOf();
  const schedules = schedulesOf();
  await schedules.put("hourly", { every: "1h", payload: 1 });
  await schedules.put("paused", { every: "1h", payload: 1, paused: true });
  await queue.enqueueMany(named(["a", "b", "c"]));
  return (await queue.dequeue({ max: 2 })).map(({ receipt }) => receipt);
}

test.each(Object.entries(calls))("%s gets the same answer as if no reply was lost", async (_, call) => {
  const answer = await call(instance(), await prepared());
  for (let lost = 0; ; lost++) {
    const receipts = await prepared();
    const { transport, wasLost } = losing(lost);
    const found = await call(transport, receipts);
    if (!wasLost()) break;
    expect({ lost, answer: found }).toEqual({ lost, answer });
  }
});
