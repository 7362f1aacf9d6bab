import { beforeEach, describe, expect, test } from "vitest";
import { addFlow, type FlowOptions } from "../../../src/features/flows/add-flow.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { Flows } from "../../../src/http/flows/index.ts";
import { flowsPart } from "../../../src/features/flows/sweep-part.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { SluiceError } from "../../../src/errors.ts";
import { Operator, Queue } from "../../../src/index.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { sweepWith } from "../../../src/open/sweep-with.ts";
import { useRig } from "../../support/rig.ts";
import { flowQueueOf } from "./flow-queues.ts";

// Flows as a whole: what has become of them, cancel, redrive, and what a failure cancels.

const rig = useRig();
const now = () => rig.now;
let queues = new Map<string, Queue>();
let flows: Flows;

beforeEach(() => {
  queues = new Map();
  flows = new Flows({ transport: linked(rig.transport), now });
});

function queue(name: string): Queue {
  const known = queues.get(name) ?? new Queue(name, { transport: linked(rig.transport), now });
  queues.set(name, known);
  return known;
}

type After = FlowItem<string>["after"];

const task = (ref: string, after: After = [], at = "one"): FlowItem<string> => ({
  ref,
  queue: at,
  payload: ref,
  after,
});

const add = (items: readonly FlowItem<string>[], options: FlowOptions = {}) =>
  addFlow(items, (name) => flowQueueOf(queue(name)), { id: "f", ...options });

/** Works on one task of a queue. */
async function work(at = "one", as: "complete" | "reject" = "complete") {
  const [first] = await queue(at).dequeue();
  await (as === "complete" ? first?.complete() : first?.reject({ error: "no" }));
  return first?.payload;
}

async function statesOf(id = "f@one") {
  const report = await flows.get(id);
  return Object.fromEntries(
    report?.nodes.map(({ ref, state, reason }) => [ref, [state, reason].filter(Boolean).join(" ")]) ?? [],
  );
}

const CHAIN = [task("a"), task("b", "a", "two"), task("c", "b"), task("d", "c", "two")];

describe("a report of a flow", () => {
  test("has its tasks with their states, and what they wait for", async () => {
    await add([
      task("a"),
      task("b", "a", "two"),
      {
        ref: "in",
        after: [
          { ref: "a", on: "ended" },
          { ref: "b", on: "ended" },
        ],
        flow: [task("x"), task("y")],
      },
      task("c", "in"),
    ]);
    await work("one", "reject");
    rig.now += 5;
    expect(await flows.get("f@one")).toEqual({
      id: "f@one",
      state: "running",
      createdAt: rig.now - 5,
      isCancelled: false,
      counts: { pending: 2, delayed: 0, blocked: 1, working: 0, completed: 0, rejected: 2 },
      nodes: [
        {
          ref: "a",
          kind: "task",
          queue: "one",
          id: "0{f@one}",
          state: "rejected",
          reason: "rejected",
          after: [],
        },
        {
          ref: "b",
          kind: "task",
          queue: "two",
          id: "1{f@one}",
          state: "rejected",
          reason: "dependency_failed",
          because: "a",
          after: [{ ref: "a", on: "completed" }],
        },
        ...["x", "y"].map((ref) => ({
          ref: `in/${ref}`,
          kind: "task",
          queue: "one",
          id: expect.any(String),
          state: "pending",
          after: [
            { ref: "a", on: "ended" },
            { ref: "b", on: "ended" },
          ],
        })),
        {
          ref: "in",
          kind: "flow",
          state: "blocked",
          after: [
            { ref: "in/x", on: "ended" },
            { ref: "in/y", on: "ended" },
          ],
        },
        {
          ref: "c",
          kind: "task",
          queue: "one",
          id: expect.any(String),
          state: "blocked",
          after: [{ ref: "in", on: "completed" }],
        },
      ],
    });
    for (let i = 0; i < 3; i++) await work();
    expect(await flows.get("f@one")).toMatchObject({ state: "rejected", endedAt: rig.now });
    expect(await flows.get("g@one")).toBe(null);
  });

  test("names the task that failed, though another one completed with it, or last", async () => {
    const { id } = await add([
      { ref: "in", flow: [task("x"), task("y")] },
      task("late", "in"),
      task("a"),
      task("b"),
      task("c", ["a", "b"]),
    ]);
    const all = await queue("one").dequeue({ max: 4 });
    const end = (...refs: string[]) =>
      Promise.all(
        all
          .filter(({ payload }) => refs.includes(payload as string))
          .map((one) => ("xb".includes(one.payload as string) ? one.reject() : one.complete())),
      );
    await end("a", "b");
    await end("x");
    await end("y");
    const report = await flows.get(id);
    const because = report?.nodes.flatMap((node) => (node.because ? [[node.ref, node.because]] : []));
    expect(because).toEqual(
      expect.arrayContaining([
        ["c", "b"],
        ["in", "in/x"],
        ["late", "in/x"],
      ]),
    );
  });

  test("is refused for what is no id of a flow", async () => {
    await expect(flows.get("f")).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

describe("a flow that is cancelled", () => {
  test("ends: tasks that wait are cancelled, those that work are asked to stop", async () => {
    await add([...CHAIN, task("e", [], "two")]);
    const [first] = await queue("one").dequeue();
    expect(await flows.cancel("f@one")).toEqual({ ok: true, cancelled: 4, flagged: 1 });
    expect(await flows.cancel("f@one")).toEqual({ ok: true, cancelled: 0, flagged: 0 });
    const gone = "rejected cancelled";
    expect(await statesOf()).toEqual({ a: "working", b: gone, c: gone, d: gone, e: gone });
    await first?.reject();
    expect(await flows.get("f@one")).toMatchObject({ state: "rejected", isCancelled: true });
    expect(await flows.cancel("g@one")).toEqual({ ok: false, code: "not_found" });
    const { pending, blocked } = await queue("two").counts();
    expect([pending, blocked]).toEqual([0, 0]);
  });

  test.for(["request", "reply"] as const)(
    "is cancelled as a whole by a sweep, whichever %s its caller dies at after it was marked",
    async (loses) => {
      for (let most = 1; most < 8; most++) {
        await rig.command("FLUSHALL");
        queues = new Map();
        await add(CHAIN);
        let requests = 0;
        const dying: Transport = {
          ...rig.transport,
          send: async (commands, options) => {
            requests++;
            const dies = requests >= most;
            if (dies && (loses === "request" || requests > most))
              throw new SluiceError("redis_unreachable", "dead");
            const outcomes = await rig.transport.send(commands, options);
            if (dies) throw new SluiceError("redis_unreachable", "dead");
            return outcomes;
          },
        };
        const died = await new Flows({ transport: dying, now }).cancel("f@one").then(
          () => false,
          () => true,
        );
        await sweepWith([flowsPart], linked(rig.transport), { now });
        const report = await flows.get("f@one");
        if (!died) expect(report).toMatchObject({ isCancelled: true });
        expect(report?.counts.rejected).toBe(report?.isCancelled ? 4 : 0);
      }
    },
  );
});

test("what waits in another queue falls at once if a task is purged, or its last lease ends with a dequeue", async () => {
  await addFlow(
    [
      { ...task("a"), maxAttempts: 1 },
      task("b", "a"),
      task("c", "b", "two"),
      task("d", "a", "two"),
    ] as FlowItem<string>[],
    (name) => flowQueueOf(queue(name)),
    { id: "f" },
  );
  expect(
    await new Operator("one", { transport: linked(rig.transport), now }).purge({ state: "blocked" }),
  ).toMatchObject({
    purged: 1,
  });
  const fell = "rejected dependency_failed";
  expect(await statesOf()).toEqual({ a: "pending", b: "rejected cancelled", c: fell, d: "blocked" });
  await queue("one").dequeue({ lease: "1s" });
  rig.now += 1_001;
  expect(await queue("one").dequeue()).toHaveLength(0);
  expect(await statesOf()).toMatchObject({ a: "rejected lease_expired", d: fell });
});

describe("a flow that is redriven", () => {
  test("goes on: what failed waits again, what fell with it is blocked again, what ran stays", async () => {
    await add([...CHAIN, task("last", { ref: "a", on: "ended" })]);
    await work("one", "reject");
    await work("one");
    expect(await flows.get("f@one")).toMatchObject({
      state: "rejected",
      counts: { rejected: 4, completed: 1 },
    });
    expect(await flows.redrive("f@one")).toEqual({ ok: true, redriven: 1 });
    expect(await flows.redrive("f@one")).toEqual({ ok: true, redriven: 0 });
    const waits = { a: "pending", b: "blocked", c: "blocked", d: "blocked", last: "completed" };
    expect(await statesOf()).toEqual(waits);
    const { transitions = [], state } = (await queue("two").get("1{f@one}")) ?? {};
    expect([state, ...transitions.map(({ to }) => to)]).toEqual(["blocked", "rejected", "blocked"]);
    expect(await flows.get("f@one")).toMatchObject({ state: "running" });
    const done = [await work(), await work("two"), await work(), await work("two")];
    expect(done).toEqual(["a", "b", "c", "d"]);
    expect(await flows.get("f@one")).toMatchObject({ state: "completed", counts: { completed: 5 } });
    expect(await flows.redrive("g@one")).toEqual({ ok: false, code: "not_found" });
  });

  test("with all dead letters of its queue goes on in the same way: what fell waits for what failed", async () => {
    await add([task("a"), task("b", "a")]);
    await work("one", "reject");
    const reason = ["rejected", "dependency_failed"] as const;
    await new Operator("one", { transport: linked(rig.transport), now }).redrive({ reason });
    const ready = await queue("one").dequeue({ max: 9 });
    expect(ready.map(({ payload }) => payload)).toEqual(["a"]);
    expect(await statesOf()).toEqual({ a: "working", b: "blocked" });
  });

  test("keeps its records until it ends", async () => {
    await add([task("a"), task("b", [], "two")]);
    await work("two");
    await work("one", "reject");
    await flows.redrive("f@one");
    rig.now += 86_400_000;
    await sweepWith([flowsPart], linked(rig.transport), { now });
    expect(await statesOf()).toEqual({ a: "pending", b: "completed" });
    await work();
    rig.now += 3_600_001;
    await sweepWith([flowsPart], linked(rig.transport), { now });
    expect(await flows.get("f@one")).toBe(null);
    expect(await queue("two").get("1{f@one}")).toBe(null);
  });
});

describe('with onFailure: "cancel"', () => {
  test("a failure cancels what has not ended, except what cleans up", async () => {
    const items = [
      task("a"),
      task("b", "a", "two"),
      task("other", [], "two"),
      task("then", "other"),
      task(
        "clean",
        [
          { ref: "b", on: "ended" },
          { ref: "then", on: "ended" },
        ],
        "two",
      ),
      task("mail", "clean"),
    ];
    const { id } = await add(items, { onFailure: "cancel" });
    await work("one", "reject");
    const gone = "rejected cancelled";
    expect(await statesOf()).toEqual({
      a: "rejected rejected",
      b: "rejected dependency_failed",
      other: gone,
      then: gone,
      clean: "pending",
      mail: "blocked",
    });
    expect(await flows.get(id)).toMatchObject({ isCancelled: true, onFailure: "cancel" });
    expect([await work("two"), await work()]).toEqual(["clean", "mail"]);
    expect(await flows.get(id)).toMatchObject({ state: "rejected", isCancelled: true });
    expect(await flows.redrive(id)).toEqual({ ok: true, redriven: 1 });
    expect(await flows.get(id)).toMatchObject({ state: "running", isCancelled: false });
  });

  test("a task that a user cancels cancels no other", async () => {
    const { tasks } = await add([task("a"), task("b", "a"), task("c")], { onFailure: "cancel" });
    await queue("one").cancel(tasks["a"] as string);
    expect(await statesOf()).toEqual({
      a: "rejected cancelled",
      b: "rejected dependency_failed",
      c: "pending",
    });
  });

  test("a lease that expires for the last time is a failure; a sweep cancels the rest", async () => {
    await addFlow(
      [{ ...task("a"), maxAttempts: 1 }, task("b", [], "two")] as FlowItem<string>[],
      (name) => flowQueueOf(queue(name)),
      { id: "f", onFailure: "cancel" },
    );
    await queue("one").dequeue({ lease: "1s" });
    rig.now += 1_001;
    await sweepWith([flowsPart], linked(rig.transport), { now });
    expect(await statesOf()).toEqual({ a: "rejected lease_expired", b: "rejected cancelled" });
  });
});
