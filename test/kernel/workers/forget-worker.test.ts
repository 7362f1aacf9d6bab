import { expect, test } from "vitest";
import { queueHealth, type WorkerName } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const one = { name: "one", incarnation: "a" };
const forget = (worker: WorkerName) => rig.operator().forgetWorker(worker);
const listed = async () =>
  (await rig.operator().workers()).workers.map(({ name, incarnation }) => [name, incarnation]);

test("a worker without tasks leaves the list, alone, until it comes back", async () => {
  const queue = rig.queue();
  const all = [one, { name: "one" }, { name: "one", incarnation: "b" }, { name: "one!", incarnation: "a" }];
  for (const worker of all) await queue.heartbeat(worker);
  expect(await forget(one)).toEqual({ ok: true });
  // A resend.
  expect(await forget(one)).toEqual({ ok: true });
  const left = (await listed()).map(([name, incarnation]) => `${name} ${incarnation}`);
  expect(new Set(left)).toEqual(new Set(["one undefined", "one b", "one! a"]));
  expect(await queue.heartbeat(one)).toMatchObject({ ok: true });
  expect(await listed()).toHaveLength(4);
});

test("a worker with tasks is not forgotten, and nothing is changed (I3)", async () => {
  const queue = rig.queue();
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  const tasks = await queue.dequeue({ max: 2, worker: one });
  const before = await rig.space();
  expect(await forget(one)).toEqual({ ok: false, code: "still_working", working: 2 });
  expect(await rig.space()).toEqual(before);
  for (const task of tasks) await task.complete();
  expect(await forget(one)).toEqual({ ok: true });
  expect(await listed()).toEqual([]);
});

test("a worker that was failed leaves the list, and is no finding any more", async () => {
  const queue = rig.queue();
  await queue.enqueue(1);
  await queue.dequeue({ worker: one });
  await rig.operator().failWorker("one");
  expect(await listed()).toEqual([["one", "a"]]);
  expect(await forget(one)).toEqual({ ok: true });
  expect(await listed()).toEqual([]);
  const { findings } = await queueHealth(rig.transport, { now: () => rig.now });
  expect(findings.filter(({ code }) => code === "worker_lost")).toEqual([]);
  expect([...(await rig.space()).expiry.keys()]).toEqual([]);
});

test("a worker leaves all partitions", async () => {
  const queue = rig.queue({ partitions: 3 });
  await queue.enqueueMany([1, 2, 3, 4, 5, 6, 7, 8].map((payload) => ({ payload })));
  const tasks = await queue.dequeue({ max: 8, worker: one });
  expect(await forget(one)).toMatchObject({ ok: false, working: tasks.length });
  for (const task of tasks) await task.complete();
  expect(await forget(one)).toEqual({ ok: true });
  expect(await listed()).toEqual([]);
});
