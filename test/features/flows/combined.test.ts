import { expect, test } from "vitest";
import { defineQueue, drain, Operator, Queue, type QueueOptions, sweep } from "../../../src/index.ts";
import { flow, Flows, flows, withFlows } from "../../../src/http/flows/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { offloading, testStore } from "../offload/rig.ts";
import { encrypting } from "../../support/encrypting.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const queueNamed = (name: string, options: Partial<QueueOptions> = {}) =>
  new Queue<unknown>(name, { transport: linked(rig.transport), now: () => rig.now, ...options });

/** Works on both queues until nothing is left, and returns the payloads in their order, with the refs of those before. */
async function work(...queues: readonly Queue[]) {
  const seen: unknown[] = [];
  for (let before = -1; before < seen.length;) {
    before = seen.length;
    for (const queue of queues) {
      const handler = async (task: { payload: unknown; before(): Promise<object> }) =>
        void seen.push([task.payload, ...Object.keys(await task.before())]);
      await drain(withFlows(queue, { queues }), handler, { concurrency: 1, requests: 50 });
    }
  }
  return seen;
}

test("a flow goes through partitions, encryption, groups and priorities", async () => {
  const [rows, mails] = ["rows", "mails"].map((name) =>
    queueNamed(name, { partitions: 4, encryption: encrypting() }),
  );
  await flow(
    { ref: "low", queue: rows!, payload: "low", group: "g" },
    { ref: "high", queue: rows!, payload: "high", priority: 9, after: "low" },
    { ref: "mail", queue: mails!, payload: "mail", after: ["low", "high"], group: "g" },
  );
  expect(await work(rows!, mails!)).toEqual([["low"], ["high", "low"], ["mail", "low", "high"]]);
});

test("tasks of a group in strict order begin in the order in which they were released", async () => {
  const ledger = queueNamed("ledger");
  await new Operator("ledger", { transport: rig.transport, now: () => rig.now }).configure({
    order: "strict",
  });
  await flow(
    { ref: "c", queue: ledger, payload: "c", group: "g", after: "a" },
    { ref: "a", queue: ledger, payload: "a", group: "g" },
    { ref: "b", queue: ledger, payload: "b", group: "g" },
  );
  expect(await work(ledger)).toEqual([["a"], ["b"], ["c", "a"]]);
});

test("a group in strict order is refused in a queue with partitions, as a flow has one of them", async () => {
  const ledger = queueNamed("ledger", { partitions: 2 });
  await ledger.enqueue("first", { group: "g" });
  const operator = new Operator("ledger", { transport: rig.transport, now: () => rig.now });
  await operator.configure({ order: "strict" });
  await operator.configureGroup("loose", { order: "none" });
  const add = (group: string) => flow({ ref: "a", queue: ledger, payload: 1, group });
  await expect(add("g")).rejects.toThrow("tasks[0].group is in strict order, which a flow keeps only in");
  await add("loose");
  expect(await ledger.counts()).toMatchObject({ pending: 2 });
});

test("a group in strict order is also refused in a queue beside, of which the caller knows no partitions yet", async () => {
  const options = { transport: rig.transport, now: () => rig.now };
  for (const name of ["imports", "ledger"]) {
    await queueNamed(name, { partitions: 2 }).enqueue("first");
    await new Operator(name, options).configure({ order: "strict" });
  }
  const transport = linked({ send: (...sent) => rig.transport.send(...sent) });
  const [imports, ledger] = ["imports", "ledger"].map((name) => queueNamed(name, { transport }));
  const items = [
    { ref: "a", queue: imports!, payload: 1 },
    { ref: "b", queue: ledger!, payload: 1, group: "g", after: "a" },
  ];
  await expect(flow(items)).rejects.toThrow("tasks[1].group is in strict order");
});

test("a process that knows of no partitions yet finds flows in them, and what a task waited for", async () => {
  const fresh = () => ({
    transport: linked({ send: (...sent) => rig.transport.send(...sent) }),
    now: () => rig.now,
  });
  const [rows, mails] = ["rows", "mails"].map((name) => queueNamed(name, { partitions: 2 }));
  for (let i = 0; i < 6; i++) {
    const { id } = await flow(
      { ref: "a", queue: rows!, payload: "a" },
      { ref: "b", queue: mails!, payload: "b", after: "a" },
    );
    expect(await new Flows(fresh()).get(id)).toMatchObject({ counts: { pending: 1, blocked: 1 } });
    await (await rows!.dequeue())[0]?.complete("done");
    const [task] = await withFlows(new Queue("mails", fresh())).dequeue();
    expect(await task?.before()).toEqual({ a: { state: "completed", result: "done" } });
    expect(await new Flows(fresh()).cancel(id)).toEqual({ ok: true, cancelled: 0, flagged: 1 });
  }
});

test("payloads stay in Redis, and have at most 1 MiB, also with an object store", async () => {
  const store = testStore(rig.now);
  const queue = queueNamed("reports", { offload: offloading(store) });
  await flow({ ref: "a", queue, payload: "x".repeat(1_000) });
  expect(await store.keys()).toEqual([]);
  const tooLarge = flow({ ref: "a", queue, payload: "x".repeat(1_048_576) });
  await expect(tooLarge).rejects.toMatchObject({ code: "too_large", path: "tasks[0].payload" });
});

test("a queue is not deleted while a flow needs it, unless forced", async () => {
  const [first, second] = [queueNamed("first"), queueNamed("second", { partitions: 2 })];
  const { id } = await flow(
    { ref: "a", queue: first, payload: "a" },
    { ref: "b", queue: second, payload: "b", after: "a" },
  );
  const operator = new Operator("second", { transport: rig.transport, now: () => rig.now });
  const refused = { ok: false, code: "still_working", working: 0, ofFlows: 2 };
  expect(await operator.deleteQueue()).toEqual(refused);
  await new Flows({ transport: rig.transport, now: () => rig.now }).cancel(id);
  expect(await operator.deleteQueue()).toEqual({ ok: true });
});

test("a flow goes on when its queues are divided", async () => {
  const names = ["rows", "mails"];
  const { id } = await flow(
    { ref: "a", queue: queueNamed("rows"), payload: "a" },
    { ref: "b", queue: queueNamed("mails"), payload: "b", after: "a" },
    { ref: "c", queue: queueNamed("rows"), payload: "c", after: "b" },
  );
  const options = { transport: rig.transport, now: () => rig.now };
  for (const name of names) await new Operator(name, options).resize(2);
  const seen = await work(...names.map((name) => queueNamed(name)));
  expect(seen).toEqual([["a"], ["b", "a"], ["c", "b"]]);
  const all = new Flows(options);
  expect(await all.get(id)).toMatchObject({ state: "completed" });
  expect(await all.redrive(id)).toEqual({ ok: true, redriven: 0 });
  expect((await sweep(rig.transport, { now: options.now, also: [flows] })).failed).toEqual([]);
});

test("a flow is added to queues that were divided meanwhile, and its id stays known when they are divided again", async () => {
  const options = { transport: rig.transport, now: () => rig.now };
  // Each call comes from an instance that knows of no change.
  const add = (id: string, partitions?: number) => {
    const fresh: QueueOptions["transport"] = linked({ send: (...sent) => rig.transport.send(...sent) });
    const [rows, mails] = ["rows", "mails"].map((name) => queueNamed(name, { transport: fresh, partitions }));
    return flow(
      [
        { ref: "a", queue: rows!, payload: id },
        { ref: "b", queue: mails!, payload: id, after: "a" },
      ],
      { id },
    );
  };
  const ids = Array.from({ length: 6 }, (_, i) => `night-${i}`);
  for (const name of ["rows", "mails"]) {
    await queueNamed(name).enqueue(0);
    await new Operator(name, options).resize(2);
  }
  for (const id of ids) expect(await add(id)).toMatchObject({ created: true });
  for (const name of ["rows", "mails"]) await new Operator(name, options).resize(5);
  for (const id of ids) expect(await add(id)).toMatchObject({ created: false });
  expect(await queueNamed("rows").counts()).toMatchObject({ pending: 1 + ids.length, blocked: 0 });
  expect(await queueNamed("mails").counts()).toMatchObject({ pending: 1, blocked: ids.length });
});

test("a sweep notifies the tasks of other queues that a consumer has left, and wakes their consumers", async () => {
  const [first, second] = [queueNamed("first"), queueNamed("second")];
  await flow({ ref: "a", queue: first, payload: "a" }, { ref: "b", queue: second, payload: "b", after: "a" });
  const [task] = await first.dequeue();
  // The consumer dies before it has notified the second queue.
  const { send } = rig.transport;
  let settled = false;
  rig.transport.send = (...call) => {
    if (settled) return Promise.reject(new Error("died"));
    settled = true;
    return send(...call);
  };
  await task?.complete().catch(() => {});
  rig.transport.send = send;
  const woken: string[] = [];
  await sweep(linked(rig.transport), {
    now: () => rig.now,
    also: [flows],
    wake: { wake: (queue) => void woken.push(queue) },
  });
  expect(woken).toEqual(["second"]);
  expect((await second.dequeue()).map(({ payload }) => payload)).toEqual(["b"]);
});

test("a declared queue that reaches no database is refused with its path, and what to give in a deployment", async () => {
  const alone = defineQueue("alone");
  const added = flow(
    { ref: "a", queue: queueNamed("rows"), payload: 1 },
    { ref: "b", queue: alone, payload: 1 },
  );
  await expect(added).rejects.toThrow("tasks[1].queue.transport must be declared");
  await expect(added).rejects.toThrow("Handlers and fetch of a deployment take queue(…)");
});

test("a misspelt option of a task or an inner flow is refused, with those that there are", async () => {
  const task = { ref: "a", queue: queueNamed("rows"), payload: 1 };
  for (const item of [task, { ref: "b", flow: [task] }])
    await expect(flow([{ ...item, afer: "c" }])).rejects.toThrow(
      /^tasks\[0\]\.afer is .*one of ref, .*after/,
    );
});
