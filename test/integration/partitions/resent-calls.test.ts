/** Calls of which a request ran on the queue's own keys, but whose reply was lost before the queue got partitions. */
import { describe, expect, test } from "vitest";
import { Operator, Queue, Schedules, type Settled, type Settlement } from "../../../src/index.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();
const now = () => rig.now;

/** The transport of another function instance, which remembers nothing. */
const instance = (): Transport => ({ send: (commands, options) => rig.transport.send(commands, options) });

/**
 * A transport that sends one request again, because its reply was lost. The queue gets partitions in between.
 * @param lost which request, from 0
 */
function losing(lost: number) {
  let requests = 0;
  const transport: Transport = {
    async send(commands, options) {
      const outcomes = await rig.transport.send(commands, options);
      if (requests++ !== lost) return outcomes;
      await resizeQueue({ name: QUEUE, prefix: undefined, transport: instance(), now, copySettings }, 4);
      return rig.transport.send(commands, options);
    },
  };
  return { transport, wasLost: () => requests > lost };
}

/** Of a dequeue that gets the same tasks again. */
const token = "tokentokentoken1";
const withoutReceipt = ({ receipt: _, ...settled }: Settled) => settled;
const settle = async (transport: Transport, settlements: readonly Settlement[]) =>
  (await new Queue(QUEUE, { transport, now }).settle(settlements)).map(withoutReceipt);

const calls: Record<string, (transport: Transport, receipts: readonly string[]) => Promise<unknown>> = {
  "Schedules.put, of a new schedule": (transport) =>
    new Schedules(QUEUE, { transport, now }).put("new", { every: "1h", payload: 1 }),
  "Schedules.put, of another": (transport) =>
    new Schedules(QUEUE, { transport, now }).put("hourly", { every: "2h", payload: 1 }),
  "Schedules.pause": (transport) => new Schedules(QUEUE, { transport, now }).pause("hourly"),
  "Schedules.resume": (transport) => new Schedules(QUEUE, { transport, now }).resume("paused"),
  "Schedules.remove": (transport) => new Schedules(QUEUE, { transport, now }).remove("hourly"),
  "Queue.enqueue": (transport) => new Queue(QUEUE, { transport, now }).enqueue(1, { id: "d" }),
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
    const queue = new Queue(QUEUE, { transport, now });
    const { settled, tasks } = await queue.settleAndDequeue([{ receipt, outcome: "complete" }], { token });
    return [settled.map(withoutReceipt), tasks.map(({ id }) => id)];
  },
  "Queue.dequeue": async (transport) =>
    (await new Queue(QUEUE, { transport, now }).dequeue({ token })).map(({ id }) => id),
  "Queue.cancel": (transport) => new Queue(QUEUE, { transport, now }).cancel("c"),
  "Operator.configure": (transport) => new Operator(QUEUE, { transport, now }).configure({ maxWorking: 9 }),
  "Operator.configureGroup": (transport) =>
    new Operator(QUEUE, { transport, now }).configureGroup("g", { maxWorking: 9 }),
  "Operator.deleteQueue": (transport) => new Operator(QUEUE, { transport, now }).deleteQueue({ force: true }),
};

async function prepared(): Promise<string[]> {
  await rig.command("FLUSHALL");
  const queue = new Queue(QUEUE, { transport: instance(), now });
  const schedules = new Schedules(QUEUE, { transport: instance(), now });
  await schedules.put("hourly", { every: "1h", payload: 1 });
  await schedules.put("paused", { every: "1h", payload: 1, paused: true });
  await queue.enqueueMany(["a", "b", "c"].map((id) => ({ payload: 1, id })));
  return (await queue.dequeue({ max: 2 })).map(({ receipt }) => receipt);
}

describe("a call gets the same answer as if no reply was lost", () => {
  test.each(Object.entries(calls))("%s", async (_, call) => {
    const answer = await call(instance(), await prepared());
    for (let lost = 0; ; lost++) {
      const receipts = await prepared();
      const { transport, wasLost } = losing(lost);
      const found = await call(transport, receipts);
      if (!wasLost()) break;
      expect({ lost, answer: found }).toEqual({ lost, answer });
    }
  });
});
