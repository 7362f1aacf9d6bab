import { beforeEach, expect, test } from "vitest";
import { addFlow } from "../../../src/features/flows/add-flow.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { Flows } from "../../../src/http/flows/index.ts";
import { deepSweep, Queue, SluiceError, type Transport } from "../../../src/index.ts";
import { deepTools } from "../../support/deep.ts";
import { key, QUEUE, useRig } from "../../support/rig.ts";
import { flowQueueOf } from "./flow-queues.ts";

// What a deep sweep finds of flows, and repairs.

const rig = useRig();
const { found, runDeepSweep } = deepTools(rig);
let queue: Queue;

const task = (ref: string, after: readonly string[] = []): FlowItem<Queue> => ({
  ref,
  queue,
  payload: ref,
  after,
});

beforeEach(async () => {
  queue = new Queue(QUEUE, { transport: linked(rig.transport), now: () => rig.now });
  await addFlow(
    [
      task("a"),
      task("b", ["a"]),
      { ref: "in", after: ["b"], flow: [task("c"), task("d")] },
      task("e", ["in"]),
    ],
    flowQueueOf,
    { id: "f" },
  );
});

const flows = () => new Flows({ transport: linked(rig.transport), now: () => rig.now });
const stateOf = async (id: string) => (await flows().get(id))?.state;

const work = async (as: "complete" | "reject" = "complete") => {
  const [first] = await queue.dequeue();
  await (as === "complete" ? first?.complete() : first?.reject());
  return first?.payload;
};

test("a flow is valid when it was added, while it runs, when tasks have failed, and when it has ended", async () => {
  expect(await found()).toEqual({});
  await work();
  expect(await found()).toEqual({});
  await work("reject");
  expect(await found()).toEqual({});
});

test("a blocked task in no place, or due at another time, is blocked again, and does not begin", async () => {
  await rig.command("ZREM", key("delayed"), "1{f@emails}");
  await rig.command("ZADD", key("delayed"), String(rig.now - 1), "2{f@emails}");
  expect(await found()).toEqual({ place_missing: ["1{f@emails}"], time_broken: ["2{f@emails}"] });
  expect(await queue.counts()).toMatchObject({ pending: 1, delayed: 0, blocked: 4 });
  expect([await work(), await work()]).toEqual(["a", "b"]);
});

test("a flow that is added while a scan looks keeps its layout, and the pieces that are still to be sent", async () => {
  await rig.command("FLUSHALL");
  const dying: Transport = {
    send: (commands, options) =>
      JSON.stringify(commands).includes("{others}")
        ? Promise.reject(new SluiceError("redis_unreachable", "the process is dead"))
        : rig.transport.send(commands, options),
  };
  const at = (name: string) => new Queue(name, { transport: linked(dying), now: () => rig.now });
  const items = [
    { ...task("x"), queue: at(QUEUE) },
    { ...task("y", ["x"]), queue: at("others") },
  ];
  await addFlow(items, flowQueueOf, { id: "g" }).catch(() => undefined);
  // The scan has passed the field that says that there is a flow, when it is added.
  const passed: Transport = {
    send: async (commands, options) => {
      const replies = await rig.transport.send(commands, options);
      const [{ reply }] = replies as [{ reply?: [string, string[]] }];
      if (!JSON.stringify(commands).includes("~[Fx]:*") || !reply) return replies;
      const [cursor, found] = reply;
      const place = found.indexOf("~F:g@emails");
      return [{ reply: [cursor, found.filter((_, i) => i !== place && i !== place + 1)] }];
    },
  };
  const before = await rig.keySpace();
  expect((await deepSweep(passed, { now: () => rig.now })).faults).toEqual([]);
  expect((await rig.keySpace())[key("tasks")]).toEqual(before[key("tasks")]);
  expect((await runDeepSweep()).faults).toEqual([]);
  expect(await stateOf("g@emails")).toBe("running");
  expect(await new Queue("others", { transport: linked(rig.transport) }).counts()).toMatchObject({
    blocked: 1,
  });
});

const B = "1{f@emails}";
const recordOf = (id: string) => rig.command("HGET", key("tasks"), `.${id}`) as Promise<string>;

/** As a failover leaves it: a task that was released is blocked as before, with another record. */
async function blockAgain(id: string, record: string) {
  await rig.command("LREM", key("pending"), "1", id);
  await rig.command("HSET", key("tasks"), `.${id}`, record);
  await rig.command("ZADD", key("delayed"), "4503599627370495", id);
}

test("a task of another queue than the flow's home is valid while what it waits for has not ended", async () => {
  const options = { transport: linked(rig.transport), now: () => rig.now };
  const other = { queue: new Queue("others", options) };
  const items = [task("x"), { ...task("y", ["x"]), ...other }, { ...task("z", ["y"]), ...other }];
  await addFlow(items, flowQueueOf, { id: "g" });
  expect(await found()).toEqual({});
});

test("a task that waits for what has ended is notified again", async () => {
  const record = await recordOf(B);
  await work();
  await blockAgain(B, record);
  expect(await found()).toEqual({ edge_open: [B] });
  expect(await work()).toBe("b");
});

test("a task that is blocked although all of its edges are closed is released", async () => {
  const record = await recordOf(B);
  await work();
  await blockAgain(B, record.replace(/;Q=[^;\n]*/, ";Q=0,0,."));
  expect(await found()).toEqual({ edge_open: [B] });
  expect(await work()).toBe("b");
});

test("what waits for a task that is lost is rejected", async () => {
  await rig.command("HDEL", key("tasks"), B, `.${B}`);
  await rig.command("ZREM", key("delayed"), B);
  expect(await found()).toEqual({ control_broken: ["~nodes"], flow_broken: [B] });
  expect(await queue.counts()).toMatchObject({ pending: 1, blocked: 0, rejected: 3 });
  await work();
  expect(await stateOf("f@emails")).toBe("rejected");
});

test.for(["", "9", "1", "many"])("a wrong count of nodes is corrected: %s", async (wrong) => {
  const field = [key("tasks"), "~nodes"] as const;
  await (wrong === "" ? rig.command("HDEL", ...field) : rig.command("HSET", ...field, wrong));
  expect(await found()).toEqual({ control_broken: ["~nodes"] });
  expect(await rig.command("HGET", ...field)).toBe("7");
});

test("a partition whose note is lost is noted again, so that sweeps look into its outbox", async () => {
  await rig.command("ZREM", "sluice:queues", `~^${QUEUE}`);
  expect(await found()).toEqual({ control_broken: [`~^${QUEUE}`] });
});

test.for([undefined, 2])(
  "a flow over two queues that loses a task is rejected; partitions: %s",
  async (partitions) => {
    const options = { transport: linked(rig.transport), now: () => rig.now, partitions };
    const queues = ["one", "two"].map((name) => new Queue(name, options)) as [Queue, Queue];
    const own = (ref: string, at: 0 | 1, after: readonly string[] = []): FlowItem<Queue> => {
      return { ref, queue: queues[at], payload: ref, after };
    };
    await addFlow([own("a", 0), own("b", 1, ["a"]), own("c", 0, ["b"])], flowQueueOf, { id: "g" });
    const keys = Object.keys(await rig.keySpace());
    const of = (part: string) =>
      keys.find((one) => new RegExp(`\\{two(/\\d)?\\}:${part}$`).test(one)) as string;
    await rig.command("HDEL", of("tasks"), "1{g@one}", ".1{g@one}");
    await rig.command("HSET", of("tasks"), "~nodes", "5");
    await rig.command("ZREM", of("delayed"), "1{g@one}");
    const { faults } = await runDeepSweep();
    const byQueue = faults.map((one) => [one.queue, one.fault, one.ids]);
    expect(byQueue).toEqual([
      ["one", "flow_broken", ["1{g@one}"]],
      ["two", "control_broken", ["~nodes"]],
    ]);
    expect((await runDeepSweep()).faults).toEqual([]);
    expect(await rig.command("HGET", of("tasks"), "~nodes")).toBe("0");
    const report = await flows().get("g@one");
    expect(report?.nodes.map(({ state, because }) => [state, because])).toEqual([
      ["pending", undefined],
      [null, undefined],
      ["rejected", "b"],
    ]);
    const [a] = await queues[0].dequeue();
    await a?.complete();
    expect(await stateOf("g@one")).toBe("rejected");
  },
);

test("tasks whose flow is not known are cancelled", async () => {
  await rig.command("HDEL", key("tasks"), "~F:f@emails");
  expect(await found()).toEqual({
    control_broken: ["~F:f@emails flow.0.1"],
    flow_broken: [...[1, 2, 3, 4, 5].map((number) => `${number}{f@emails}`), "flow{f@emails}"],
  });
  expect(await queue.counts()).toMatchObject({ pending: 1, blocked: 0 });
  expect(await work()).toBe("a");
});

test("a task of no flow is kept for as long as it says, whatever its id", async () => {
  const id = "invoice{bob@example.com}";
  await queue.enqueue(1, { id, resultTtl: "2555d" });
  for (const one of await queue.dequeue({ max: 10 })) if (one.id === id) await one.complete();
  const until = await rig.command("ZSCORE", key("expiry"), id);
  await runDeepSweep();
  expect(await rig.command("ZSCORE", key("expiry"), id)).toBe(until);
});
