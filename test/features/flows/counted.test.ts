import { beforeEach, expect, test } from "vitest";
import { addFlow, type FlowOptions } from "../../../src/features/flows/add-flow.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { deepSweep, Operator, Queue, sweep, type Transport } from "../../../src/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { Flows } from "../../../src/http/flows/index.ts";
import { pageByPage } from "../../support/deep.ts";
import { useRig } from "../../support/rig.ts";
import { flowQueueOf } from "./flow-queues.ts";

// Joins are no tasks, and one task that ends is one: in counts, purges, statistics and histories.

const rig = useRig();
const now = () => rig.now;
let transport: Transport;
const queue = (name = "one") => new Queue<string>(name, { transport, now });
const operator = () => new Operator("one", { transport, now });

beforeEach(() => {
  // Without the memory of earlier tests.
  transport = linked({ send: (commands, options) => rig.transport.send(commands, options) });
});

const task = (ref: string, more: object = {}, at = "one"): FlowItem<string> => ({
  ref,
  queue: at,
  payload: ref,
  ...more,
});

const add = (items: readonly FlowItem<string>[], options: FlowOptions = {}) =>
  addFlow(items, (name) => flowQueueOf(queue(name)), { id: "f", ...options });

test("a sweep counts a cancelled task of a flow once, and one that cancels its flow", async () => {
  await add([task("a"), task("b", { maxAttempts: 1 }), task("c", { after: "b" })], { onFailure: "cancel" });
  await queue().dequeue({ max: 2, lease: 1_000 });
  await queue().cancel("0{f@one}");
  rig.now += 2_000;
  expect(await sweep(transport, { now })).toMatchObject({ reclaimed: 0, rejected: 2 });
});

test("a purge leaves joins", async () => {
  await add([{ ref: "inner", flow: [task("a")] }, task("b", { after: "inner" })]);
  const [first] = await queue().dequeue();
  await first?.complete();
  expect(await operator().purge({ state: "completed" })).toMatchObject({ purged: 1 });
  expect(await queue().get("2{f@one}")).toMatchObject({ state: "pending" });
});

test("statistics count no join", async () => {
  await operator().configure({ statistics: true });
  await add([{ ref: "inner", flow: [task("a")] }, task("b", { after: "inner" })]);
  expect((await operator().statistics()).totals).toMatchObject({ enqueued: 2 });
});

test("the history of a task that fell says when it was blocked again", async () => {
  await add([task("a"), task("b", { after: "a" })]);
  const [first] = await queue().dequeue();
  await first?.reject();
  await operator().redrive({ ids: [{ id: "0{f@one}" }] });
  const transitions = (await queue().get("1{f@one}"))?.transitions.map(({ to }) => to);
  expect(transitions).toEqual(["rejected", "blocked"]);
});

test("what goes on without having been blocked again is counted among the nodes that have not ended", async () => {
  await add([task("a"), task("b", { after: "a" }, "two")]);
  const [first] = await queue().dequeue();
  await first?.reject();
  await operator().redrive({ ids: [{ id: "0{f@one}" }] });
  const [again] = await queue().dequeue();
  // The other queue has not been notified of the redrive.
  await again?.complete();
  expect(await queue("two").counts()).toMatchObject({ pending: 1 });
  const nodes = async (name: string) => Number(await rig.command("HGET", `sluice:{${name}}:tasks`, "~nodes"));
  expect([await nodes("one"), await nodes("two")]).toEqual([1, 2]);
});

const end = async () => (await queue().dequeue())[0]?.complete();
const cancel = () => new Flows({ transport, now }).cancel("f@one");
const addAnother = () => add([task("b")], { id: "g" });

test.for([
  ["that ends before it looks, while another is added after that", end, addAnother],
  ["that ends after it has looked, while another was added before that", addAnother, end],
  ["that is cancelled before it looks, while another is added after that", cancel, addAnother],
] as const)("a deep sweep does not count the nodes of a flow %s", async ([, before, after]) => {
  await add([task("a")]);
  const looking = pageByPage({
    send: async (commands, options) => {
      for (const command of commands) {
        if (!("script" in command)) continue;
        if (command.script.name === "scan" && command.args[1] === "tasks") await before();
        if (command.script.name === "repairControl" && command.args.length > 2) await after();
      }
      return rig.transport.send(commands, options);
    },
  });
  expect((await deepSweep(looking, { now })).faults).toEqual([]);
  expect(await rig.command("HGET", "sluice:{one}:tasks", "~nodes")).toBe("2");
});
