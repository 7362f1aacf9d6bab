import { beforeEach, describe, expect, test } from "vitest";
import { Queue } from "../../../src/index.ts";
import { addFlow } from "../../../src/features/flows/add-flow.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { run } from "../../../src/kernel/call.ts";
import { notifyScript } from "../../../src/kernel/linked/link-scripts.ts";
import { Shard } from "../../../src/kernel/shard.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { useRig } from "../../support/rig.ts";
import { flowQueueOf } from "./flow-queues.ts";

const rig = useRig({ checkInvariants: false });
const queues = new Map<string, Queue>();
beforeEach(() => queues.clear());

function queue(name: string): Queue {
  const known = queues.get(name);
  if (known) return known;
  const made = new Queue(name, { transport: linked(rig.transport), now: () => rig.now });
  queues.set(name, made);
  return made;
}

const queueOf = (name: string) => flowQueueOf(queue(name));

const add = (...items: FlowItem<string>[]) => addFlow(items, queueOf, { id: "f" });
const task = (ref: string, after: FlowItem<string>["after"] = [], at = "emails"): FlowItem<string> => ({
  ref,
  queue: at,
  payload: ref,
  after,
});

/** Takes all that is ready, and returns the refs. */
async function ready(at = "emails") {
  const tasks = await queue(at).dequeue({ max: 100 });
  return { refs: tasks.map(({ payload }) => payload), tasks };
}

async function finish(ref: string, at = "emails", as: "complete" | "reject" = "complete") {
  const { refs, tasks } = await ready(at);
  expect(refs).toEqual([ref]);
  await (as === "complete" ? tasks[0]?.complete() : tasks[0]?.reject({ error: "no" }));
}

const stateOf = async (id: string, at = "emails") => (await queue(at).get(id))?.state;

describe("a flow in one queue", () => {
  test("begins each task when those before it have completed", async () => {
    const { id, created, tasks } = await add(task("c", ["a", "b"]), task("b", "a"), task("a"));
    expect([id, created]).toEqual(["f@emails", true]);
    await finish("a");
    await finish("b");
    await finish("c");
    expect(await stateOf("flow{f@emails}")).toBe("completed");
    expect(await stateOf(tasks["c"] as string)).toBe("completed");
  });

  test("rejects what waits for a task that is rejected, and so on down, but not what waits for its end", async () => {
    const { tasks } = await add(
      task("a"),
      task("b", "a"),
      task("c", "b"),
      task("d", { ref: "c", on: "ended" }),
    );
    await finish("a", "emails", "reject");
    expect(await queue("emails").get(tasks["b"] as string)).toMatchObject({
      state: "rejected",
      reason: "dependency_failed",
      error: "0{f@emails}",
    });
    expect(await stateOf(tasks["c"] as string)).toBe("rejected");
    await finish("d");
    expect(await stateOf("flow{f@emails}")).toBe("rejected");
  });

  test("added again with the same id adds nothing", async () => {
    await add(task("a"));
    expect(await add(task("a"))).toMatchObject({ created: false });
    expect((await ready()).refs).toEqual(["a"]);
  });
});

describe("a flow over several queues", () => {
  test("begins each task when those before it have ended, in whatever queue they are", async () => {
    await add(
      task("a", [], "one"),
      task("b", "a", "two"),
      task("c", "b", "one"),
      task("d", ["a", "c"], "three"),
    );
    await finish("a", "one");
    await finish("b", "two");
    await finish("c", "one");
    await finish("d", "three");
    expect(await stateOf("flow{f@one}", "one")).toBe("completed");
  });

  test("falls over several queues", async () => {
    const { tasks } = await add(task("a", [], "one"), task("b", "a", "two"), task("c", "b", "one"));
    await finish("a", "one", "reject");
    expect(await stateOf(tasks["b"] as string, "two")).toBe("rejected");
    expect(await stateOf(tasks["c"] as string, "one")).toBe("rejected");
    expect(await stateOf("flow{f@one}", "one")).toBe("rejected");
  });
});

test("a late copy of the notice of a redrive opens no edge that has completed (law 5)", async () => {
  const { tasks } = await add(task("a"), task("b"), task("c", ["a", "b"]));
  const shard = new Shard({ name: "emails", transport: rig.transport, now: () => rig.now });
  const id = tasks["c"] as string;
  const notify = (edge: string, outcome: string) =>
    run(rig.transport, shard.call(notifyScript, { wake: "" }, [{ id, edge, outcome, because: "" }]));
  for (const outcome of ["completed", "open"]) await notify("0", outcome);
  expect(await stateOf(id)).toBe("blocked");
  await notify("1", "completed");
  expect(await stateOf(id)).toBe("pending");
});

test("with an idempotency key a copy of the call gets the first answer, and another flow is refused", async () => {
  const call = (...items: FlowItem<string>[]) => addFlow(items, queueOf, { idempotencyKey: "day-17" });
  const added = await call(task("a"), task("b", "a", "rows"));
  expect(added.created).toBe(true);
  expect(await call(task("a"), task("b", "a", "rows"))).toEqual(added);
  await expect(call(task("a"), task("b", { ref: "a", on: "ended" }, "rows"))).rejects.toMatchObject({
    code: "idempotency_key_reused",
  });
  await expect(call(task("a"), { ...task("b", "a", "rows"), payload: 1 })).rejects.toThrow("other tasks");
  expect((await ready()).refs).toEqual(["a"]);
});

test("a flow with large payloads is sent in requests of bounded size, and as it was given", async () => {
  const sizes: number[] = [];
  const inner = linked(rig.transport);
  const transport: Transport = {
    ...inner,
    send(commands, options) {
      sizes.push(
        commands.reduce((sum, one) => sum + JSON.stringify("script" in one ? one.args : one).length, 0),
      );
      return inner.send(commands, options);
    },
  };
  const large = new Queue<string>("large", { transport, now: () => rig.now });
  const payload = '"'.repeat(500_000);
  const items = Array.from({ length: 8 }, (_, i) => ({
    ...task(`t${i}`, i > 0 ? `t${i - 1}` : []),
    payload,
  }));
  await addFlow(items, () => flowQueueOf(large), {});
  expect(Math.max(...sizes)).toBeLessThan(9_500_000);
  for (let i = 0; i < 8; i++) {
    const [one, ...others] = await large.dequeue({ max: 10 });
    expect([one?.payload === payload, others.length]).toEqual([true, 0]);
    await one?.complete();
  }
});
