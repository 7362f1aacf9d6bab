import { describe, expect, test } from "vitest";
import { deepSweep, type EnqueueOptions, listQueues, Operator, Queue, sweep } from "../../src/index.ts";
import { violations } from "../support/invariants.ts";
import { queueSpace } from "../support/key-space.ts";
import { useRig } from "../support/rig.ts";

// Queues with names that begin alike, and with the same ids, groups and workers in each.
const rig = useRig();
const names = ["w", "w2", "w-2", "w.2", "ww"];
const options = () => ({ transport: rig.transport, now: () => rig.now });
const queueOf = (name: string) => new Queue(name, options());
const operatorOf = (name: string) => new Operator(name, options());

/**
 * Fills a queue with tasks in every state: next and last pending, later delayed, held working, done and dead.
 */
async function fill(name: string): Promise<void> {
  const queue = queueOf(name);
  await operatorOf(name).configureGroup("g", { maxWorking: 1 });
  const tasks = (ids: readonly string[], options: EnqueueOptions = {}) =>
    queue.enqueueMany(ids.map((id) => ({ id, payload: name, ...options })));
  await tasks(["done", "dead", "held", "next", "last"]);
  await tasks(["later"], { delay: 1_000 });
  await tasks(["g1", "g2"], { group: "g", delay: "1h" });
  const worker = { name: "one", silentAfter: "1s" } as const;
  const [done, dead] = await queue.dequeue({ max: 3, lease: 1_000, worker });
  await done?.complete(name);
  await dead?.reject(name);
}

/** The key space without one queue's keys and registration. */
async function besides(name: string) {
  const { "sluice:queues": registry, ...space } = await rig.keySpace();
  return {
    registered: registry && "zset" in registry && registry.zset.filter(([member]) => member !== name),
    keys: Object.entries(space).filter(([key]) => !key.startsWith(`sluice:{${name}}:`)),
  };
}

const acts: readonly (readonly [act: string, run: (name: string) => Promise<unknown>])[] = [
  ["dequeue", (name) => queueOf(name).dequeue({ max: 100 })],
  ["sweep", (name) => sweep(rig.transport, { now: () => rig.now + 1_000, queue: name })],
  ["deep sweep", (name) => deepSweep(rig.transport, { now: () => rig.now, queue: name })],
  ["failing a worker", (name) => operatorOf(name).failWorker("one")],
  ["cancel", (name) => queueOf(name).cancel("next")],
  ["purge", (name) => operatorOf(name).purge({ state: "pending" })],
  ["delete", (name) => operatorOf(name).deleteQueue({ force: true })],
];

describe.each(acts)("%s", (_, run) => {
  test.each(["w", "w2"])("of the queue %s touches no queue with a name that begins alike", async (name) => {
    for (const other of names) await fill(other);
    const before = await besides(name);
    await run(name);
    expect(await besides(name)).toEqual(before);
    const space = await rig.keySpace();
    expect(names.flatMap((other) => violations(queueSpace(space, other)))).toEqual([]);
  });
});

test("each is counted and listed by its own name", async () => {
  for (const name of names) await fill(name);
  const { queues } = await listQueues(rig.transport);
  expect(queues.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  const counts = { pending: 2, delayed: 3, working: 1, rejected: 1, workers: 1 };
  for (const name of names) {
    expect(await queueOf(name).counts()).toMatchObject({ queue: name, ...counts });
    const { tasks } = await operatorOf(name).list({ state: "pending", payloads: true });
    expect(tasks.map(({ payload }) => payload)).toEqual([name, name]);
  }
});
