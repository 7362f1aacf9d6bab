import { expect, expectTypeOf, test, vi } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import { drain, Queue, type QueueOptions, sweep } from "../../../src/index.ts";
import { type Before, flow, flows, withFlows } from "../../../src/http/flows/index.ts";
import { encrypting, KEYS } from "../../support/encrypting.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });
const queueNamed = (name: string, options: Partial<QueueOptions> = {}) =>
  new Queue<unknown>(name, { transport: rig.transport, now: () => rig.now, ...options });

test("a handler reads what became of the tasks that its task waited for", async () => {
  const [fetches, rows, mails] = ["fetches", "rows", "mails"].map((name) => queueNamed(name));
  const after = ["rows", { ref: "fetch", on: "ended" }, { ref: "inner", on: "ended" }] as const;
  await flow(
    { ref: "fetch", queue: fetches!, payload: 1 },
    { ref: "rows", queue: rows!, payload: 2, after: "fetch" },
    { ref: "inner", flow: [{ ref: "one", queue: rows!, payload: 3 }] },
    { ref: "mail", queue: mails!, payload: 4, after },
  );
  await drain(withFlows(fetches!), () => ({ url: "x" }));
  const seen: unknown[] = [];
  await drain(withFlows(rows!), async (task) => {
    seen.push([task.payload, await task.before()]);
    if (task.payload === 3) throw Object.assign(new Error("no such row"), { name: "NonRetryableError" });
    return task.payload;
  });
  expect(seen).toEqual([
    [3, {}],
    [2, { fetch: { state: "completed", result: { url: "x" } } }],
  ]);
  await drain(withFlows(mails!), async (task) => {
    const requests = vi.spyOn(rig.transport, "send");
    await task.before();
    expect(requests, "one for each queue, its own too").toHaveBeenCalledTimes(3);
    expectTypeOf(task.before).returns.resolves.toEqualTypeOf<Readonly<Record<string, Before>>>();
    seen.push(await task.before());
  });
  expect(seen[2]).toEqual({
    rows: { state: "completed", result: 2 },
    fetch: { state: "completed", result: { url: "x" } },
    inner: {
      state: "rejected",
      reason: "dependency_failed",
      error: expect.stringMatching(/^1\{\w+@fetches\}$/),
    },
  });
});

test("results are kept until the flow has ended, also those with a short time of their own", async () => {
  const rows = queueNamed("rows");
  await flow(
    { ref: "first", queue: rows, payload: 1, resultTtl: "1s" },
    { ref: "last", queue: rows, payload: 2, after: "first", delay: "1h" },
  );
  const queue = withFlows(rows);
  await (await queue.dequeue())[0]?.complete("kept");
  rig.now += 3_600_001;
  await sweep(linked(rig.transport), { also: [flows], now: () => rig.now });
  const [last] = await queue.dequeue();
  expect(await last?.before()).toEqual({ first: { state: "completed", result: "kept" } });
});

test("a task may have waited for more tasks than one call reads", async () => {
  const rows = queueNamed("rows");
  const refs = Array.from({ length: 2_001 }, (_, i) => `row-${i}`);
  const tasks = refs.map((ref) => ({ ref, queue: rows, payload: ref }));
  await flow([...tasks, { ref: "last", queue: rows, payload: "last", after: refs }]);
  const queue = withFlows(rows);
  for (let done = 0; done < refs.length;) {
    const batch = await queue.dequeue({ max: 1_000 });
    await queue.settle(
      batch.map(({ receipt, payload: result }) => ({ receipt, outcome: "complete", result })),
    );
    done += batch.length;
  }
  const [last] = await queue.dequeue();
  expect(await last?.before()).toEqual(
    Object.fromEntries(refs.map((ref) => [ref, { state: "completed", result: ref }])),
  );
});

test("a task of no flow has waited for none, and reads nothing", async () => {
  const emails = queueNamed("emails");
  await emails.enqueue(1);
  const [task] = await withFlows(emails).dequeue();
  rig.transport.send = () => Promise.reject(new Error("sends nothing"));
  expect(await task?.before()).toEqual({});
});

test("a dequeue, and one with settlements, return such tasks", async () => {
  const emails = queueNamed("emails");
  await flow({ ref: "a", queue: emails, payload: 1 }, { ref: "b", queue: emails, payload: 2, after: "a" });
  const queue = withFlows(emails);
  const [a] = await queue.dequeue();
  const settled = [{ receipt: a!.receipt, outcome: "complete", result: "done" }] as const;
  const { tasks } = await queue.settleAndDequeue(settled);
  expect(await tasks[0]?.before()).toEqual({ a: { state: "completed", result: "done" } });
});

test("results are opened with the encryption of their queue", async () => {
  const others = encrypting({ keys: { other: KEYS.other }, current: "other" });
  const [one, other] = [
    queueNamed("one", { encryption: others }),
    queueNamed("other", { encryption: encrypting() }),
  ];
  await flow({ ref: "a", queue: one, payload: 1 }, { ref: "b", queue: other, payload: 2, after: "a" });
  await drain(withFlows(one), () => "secret");
  const [task] = await withFlows(other).dequeue();
  await expect(task?.before()).rejects.toMatchObject({ code: "undecryptable" });
  await task?.requeue();
  const [again] = await withFlows(other, { queues: [one] }).dequeue();
  expect(await again?.before()).toEqual({ a: { state: "completed", result: "secret" } });
});
