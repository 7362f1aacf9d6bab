import { beforeEach, expect, test } from "vitest";
import { addFlow } from "../../../src/features/flows/add-flow.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { Operator, Queue } from "../../../src/index.ts";
import { resp } from "../../../src/transports/resp.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { flowQueueOf } from "./flow-queues.ts";

// Tasks of flows that wait for others are in a state of their own.

const rig = useRig();
let queue: Queue;
let operator: Operator;

beforeEach(() => {
  const options = { transport: linked(rig.transport), now: () => rig.now };
  queue = new Queue(QUEUE, options);
  operator = new Operator(QUEUE, options);
});

const task = (ref: string, after: readonly string[] = []): FlowItem<Queue> => ({
  ref,
  queue,
  payload: ref,
  after,
});

const byText = (one: unknown, other: unknown) => (String(one) < String(other) ? -1 : 1);

/** `a`, then `b`, then an inner flow of `c` and `d`, then `e`. */
const add = () =>
  addFlow(
    [
      task("a"),
      task("b", ["a"]),
      { ref: "in", after: ["b"], flow: [task("c"), task("d")] },
      task("e", ["in"]),
    ],
    flowQueueOf,
    { id: "f" },
  );

async function statesOf(tasks: Readonly<Record<string, string>>) {
  const found = await Promise.all(Object.values(tasks).map((id) => queue.get(id)));
  const names = Object.keys(tasks);
  return Object.fromEntries(
    found.map((one, i) => [names[i], [one?.state, one?.reason ?? ""].join(" ").trim()]),
  );
}

test("a task of a flow is blocked until what it waits for has ended", async () => {
  const { tasks } = await add();
  const waits = { a: "pending", b: "blocked", "in/c": "blocked", "in/d": "blocked", e: "blocked" };
  expect(await statesOf(tasks)).toEqual(waits);
  expect(await queue.get(tasks["b"] as string)).not.toHaveProperty("dueAt");
  const [first] = await queue.dequeue();
  await first?.complete();
  expect(await statesOf(tasks)).toEqual({ ...waits, a: "completed", b: "pending" });
});

test("events and a watch show when a task is no longer blocked, and nothing of an inner flow", async () => {
  await operator.configure({ events: true, statistics: true });
  const listener = resp({ url: rig.redis.url });
  const ending = new AbortController();
  const listening = new Queue(QUEUE, { transport: listener });
  const events = await listening.events({ signal: ending.signal, warn: false });
  const { tasks } = await addFlow(
    [
      task("a"),
      { ref: "in", after: ["a"], flow: [task("b"), { ...task("c"), delay: "1m" }] },
      task("d", ["in"]),
    ],
    flowQueueOf,
    { id: "f" },
  );
  const watched: string[] = [];
  const watch = (async () => {
    for await (const one of queue.watch(tasks["in/b"] as string, { for: "20s", every: "1s" })) {
      watched.push("to" in one ? one.to : one.event);
      if (one.event === "transition" && one.to === "blocked") await (await queue.dequeue())[0]?.complete();
      if (watched.length === 2) return;
    }
  })();
  const shown: string[] = [];
  for await (const { event, ids } of events) {
    shown.push(
      [event, ...ids.map((id) => Object.keys(tasks).find((ref) => tasks[ref] === id) ?? id)].join(" "),
    );
    if (event === "released") break;
  }
  expect(shown).toEqual(["enqueued d in/c in/b a", "dequeued a", "completed a", "released in/b in/c"]);
  await watch;
  expect(watched).toEqual(["blocked", "pending"]);
  expect(await operator.statistics()).toMatchObject({ totals: { enqueued: 4, released: 2 } });
  ending.abort();
  await listener.close();
});

test("blocked tasks are counted and listed apart from delayed ones, and are never due", async () => {
  await add();
  expect(await queue.counts()).toMatchObject({ pending: 1, delayed: 0, blocked: 4, nextDueAt: null });
  await queue.enqueue("later", { delay: "1m", id: "later" });
  const dueAt = rig.now + 60_000;
  expect(await queue.counts()).toMatchObject({ pending: 1, delayed: 1, blocked: 4, nextDueAt: dueAt });
  const ids = async (state: "blocked" | "delayed", reverse: boolean) =>
    (await operator.list({ state, reverse, size: 2 })).tasks.map((one) => one.id);
  expect(await ids("delayed", false)).toEqual(["later"]);
  expect(await ids("delayed", true)).toEqual(["later"]);
  const first = await operator.list({ state: "blocked", size: 3, payloads: true });
  const rest = await operator.list({ state: "blocked", size: 3, payloads: true, cursor: first.cursor ?? "" });
  expect([...first.tasks, ...rest.tasks].map(({ payload }) => payload).toSorted(byText)).toEqual([
    "b",
    "c",
    "d",
    "e",
  ]);
  expect(await ids("blocked", true)).toHaveLength(2);
  rig.now = dueAt + 1;
  expect(await queue.dequeue({ max: 10 })).toHaveLength(2);
});

test("a blocked task can be cancelled; what waits for it falls", async () => {
  const { tasks } = await add();
  const waiting = queue.wait(tasks["e"] as string, { for: "20s" });
  expect(await queue.cancel(tasks["b"] as string)).toEqual({ ok: true, state: "rejected" });
  expect(await waiting).toMatchObject({ state: "rejected", reason: "dependency_failed" });
  const fell = "rejected dependency_failed";
  expect(await statesOf(tasks)).toEqual({
    a: "pending",
    b: "rejected cancelled",
    "in/c": fell,
    "in/d": fell,
    e: fell,
  });
  expect(await queue.counts()).toMatchObject({ pending: 1, blocked: 0, rejected: 3 });
  const page = await operator.list({ state: "rejected" });
  expect(page.tasks.map(({ payload: _, id }) => id).toSorted(byText)).toEqual(
    ["in/c", "in/d", "e"].map((ref) => tasks[ref]).toSorted(byText),
  );
});

test("blocked tasks can be purged alone", async () => {
  const { tasks } = await add();
  await queue.enqueue("later", { delay: "1m" });
  const { purged } = await operator.purge({ state: "delayed" });
  expect(purged).toBe(1);
  expect(await queue.counts()).toMatchObject({ blocked: 4 });
  expect(await operator.purge({ state: "blocked" })).toMatchObject({ purged: 4 });
  expect(await queue.counts()).toMatchObject({ pending: 1, delayed: 0, blocked: 0 });
  expect(await rig.command("HGET", `sluice:{${QUEUE}}:tasks`, "~nodes")).toBe("2");
  const [first] = await queue.dequeue();
  await first?.complete();
  expect(await statesOf(tasks)).toMatchObject({ a: "completed", b: "rejected cancelled" });
});
