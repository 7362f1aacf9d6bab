import { beforeEach, describe, expect, test } from "vitest";
import { addFlow } from "../../../src/features/flows/add-flow.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { flowsPart } from "../../../src/features/flows/sweep-part.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { Flows } from "../../../src/http/flows/index.ts";
import { deepSweep, type LeasedTask, listQueues, Operator, Queue, SluiceError } from "../../../src/index.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { sweepWith } from "../../../src/open/sweep-with.ts";
import { useRig } from "../../support/rig.ts";
import { flowQueueOf } from "./flow-queues.ts";

// A queue that is deleted by force: nothing in other queues waits for what was there.

const rig = useRig({ checkInvariants: false });
const now = () => rig.now;
let queues: ReadonlyMap<string, Queue>;
let flows: Flows;

beforeEach(() => {
  flows = new Flows({ transport: linked(rig.transport), now });
});

const open = (partitions?: number) => {
  const options = { transport: linked(rig.transport), now, partitions };
  queues = new Map(["one", "two", "three"].map((name) => [name, new Queue(name, options)]));
};
const queue = (name: string) => queues.get(name) as Queue;

const task = (ref: string, at: string, after: FlowItem<string>["after"] = []): FlowItem<string> => ({
  ref,
  queue: at,
  payload: ref,
  after,
});

/** Tasks behind those of `two`, in each queue; one that does not wait for them; one that waits for any end. */
const ITEMS = [
  task("a", "one"),
  task("b", "two", "a"),
  task("c", "one", "b"),
  task("d", "three", "b"),
  task("other", "three"),
  task("clean", "one", { ref: "d", on: "ended" }),
];

const remove = (name: string) =>
  new Operator(name, { transport: rig.transport, now }).deleteQueue({ force: true });
const sweep = () => sweepWith([flowsPart], linked(rig.transport), { now });

const stateOf = async () => {
  const report = await flows.get("f@one");
  const states = report?.nodes.map(({ ref, state, because }) => [ref, because ?? state] as const);
  return report && { flow: report.state, ...Object.fromEntries(states ?? []) };
};

async function work(name: string) {
  const tasks = await queue(name).dequeue({ max: 10 });
  for (const one of tasks) await one.complete();
  return tasks.map(({ payload }) => payload);
}

describe.for([undefined, 2])("in %s partitions", (partitions) => {
  beforeEach(async () => {
    open(partitions);
    await addFlow(ITEMS, (name) => flowQueueOf(queue(name)), { id: "f" });
  });

  test.for(["a sweep", "a deep sweep"])("what waits for it in other queues is rejected by %s", async (by) => {
    expect(await remove("two")).toEqual({ ok: true });
    expect(await flows.get("f@one")).toMatchObject({ state: "running" });
    await (by === "a sweep" ? sweep() : deepSweep(rig.transport, { now }));
    const fell = { c: "b", d: "b" };
    const goOn = { a: "pending", other: "pending", clean: "pending" };
    expect(await stateOf()).toEqual({ flow: "running", b: null, ...fell, ...goOn });
    expect([await work("one"), await work("three")]).toEqual([["a", "clean"], ["other"]]);
    expect(await flows.get("f@one")).toMatchObject({ state: "rejected" });
    await sweep();
    // Nothing is left of the queue, and nothing is broken.
    const space = Object.keys(await rig.keySpace()).filter((key) => /\{two/.test(key));
    expect(space.filter((key) => !/:operator-calls$|\}:|\/.*tasks$/.test(key))).toEqual([]);
    expect((await listQueues(rig.transport)).queues.map(({ name }) => name)).toEqual(["one", "three"]);
    expect((await deepSweep(rig.transport, { now })).faults).toEqual([]);
  });

  test.for(["a sweep", "a deep sweep"])(
    "of the flow as a whole, what waits is cancelled by %s",
    async (by) => {
      expect(await remove("one")).toEqual({ ok: true });
      await (by === "a sweep" ? sweep() : deepSweep(rig.transport, { now }));
      const counts = await Promise.all(["two", "three"].map((name) => queue(name).counts()));
      expect(counts).toMatchObject([{ blocked: 0 }, { blocked: 0, pending: 1 }]);
      expect(await queue("two").get("2{f@one}")).toMatchObject({ state: "rejected", reason: "cancelled" });
      expect(await stateOf()).toBe(null);
      expect(await flows.cancel("f@one")).toEqual({ ok: false, code: "not_found" });
      expect(await flows.redrive("f@one")).toEqual({ ok: false, code: "not_found" });
      expect(await work("three")).toEqual(["other"]);
    },
  );

  test("what waits for it is rejected also if it is deleted again before a sweep", async () => {
    await remove("two");
    const operator = new Operator("two", { transport: rig.transport, now });
    expect(await operator.deleteQueue()).toMatchObject({ ok: false, working: 0 });
    expect(await remove("two")).toEqual({ ok: true });
    await sweep();
    expect(await stateOf()).toMatchObject({ c: "b", d: "b" });
    expect(await operator.deleteQueue()).toEqual({ ok: true });
  });

  test("a flow that has lost a queue can be cancelled, and redriven", async () => {
    await remove("two");
    expect(await flows.cancel("f@one")).toMatchObject({ ok: true, cancelled: 5 });
    await sweep();
    expect(await flows.get("f@one")).toMatchObject({ state: "rejected", isCancelled: true });
    expect(await flows.redrive("f@one")).toEqual({ ok: true, redriven: 0 });
  });
});

test("without force, no partition is deleted while one has something to be notified to another queue", async () => {
  open(4);
  await addFlow([task("a", "one"), task("b", "two", "a")], (name) => flowQueueOf(queue(name)), { id: "f" });
  for (let i = 0; i < 20; i++) await queue("two").enqueue(`plain ${i}`);
  // A dequeue does not look into all partitions.
  while ((await work("one")).length === 0);
  let requests = 0;
  const dying: Transport = {
    send: (commands, options) => {
      if (++requests > 2) throw new SluiceError("redis_unreachable", "the process is dead");
      return rig.transport.send(commands, options);
    },
  };
  const { payload, receipt } = await taken("b");
  expect(payload).toBe("b");
  const dead = new Queue("two", { transport: linked(dying), now, partitions: 4 });
  await dead.settle([{ receipt, outcome: "complete" }]);
  const before = await rig.keySpace();
  const operator = new Operator("two", { transport: rig.transport, now });
  expect(await operator.deleteQueue()).toEqual({ ok: false, code: "still_working", working: 0, ofFlows: 1 });
  const after = await rig.keySpace();
  expect(Object.keys(after)).toEqual(Object.keys(before));
});

/** Takes tasks of `two` until it has that one; the others are put back. */
async function taken(wanted: string) {
  const tasks: LeasedTask[] = [];
  // One call may take the tasks of some partitions only.
  while (!tasks.some(({ payload }) => payload === wanted))
    tasks.push(...(await queue("two").dequeue({ max: 100 })));
  for (const one of tasks) if (one.payload !== wanted) await one.requeue();
  return tasks.find(({ payload }) => payload === wanted)!;
}
