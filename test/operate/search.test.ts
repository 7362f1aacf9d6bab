import { describe, expect, test } from "vitest";
import { findTasks, type FindTasksOptions, type FoundTasks, Producer } from "../../src/index.ts";
import { bury } from "../support/dead-letters.ts";
import { encrypting } from "../support/encrypting.ts";
import { many, named } from "../support/new-tasks.ts";
import { allPages } from "../support/paging.ts";
import { useRig } from "../support/rig.ts";
import { large, withStore } from "../features/offload/rig.ts";

const rig = useRig({ checkInvariants: false });

const find = (text: string, options: Partial<FindTasksOptions> = {}) =>
  findTasks(rig.transport, { text, now: () => rig.now, ...options });
const shown = ({ tasks }: Pick<FoundTasks, "tasks">) =>
  tasks.map(({ queue, id, state, found }) => [queue, id, state, found].join(" "));
const add = (queue: string, id: string, payload: unknown) =>
  new Producer(queue, { transport: rig.transport, now: () => rig.now }).enqueue(payload, { id });

describe("a search finds tasks of all queues", () => {
  test("by id, payload, error and result, in each state, dead letters first, the last ones first", async () => {
    const queue = rig.queue();
    await bury(queue, [{ id: "dead", payload: "needle in the error" }]);
    rig.now += 1;
    await bury(queue, [
      { id: "dead2", payload: "no" },
      { id: "dead3", payload: { needle: 1 } },
    ]);
    await queue.enqueueMany(named(["done", "work"]));
    const [done, work] = await queue.dequeue({ max: 2 });
    await done?.complete({ found: ["a needle"] });
    await work?.extend();
    await queue.enqueueMany([
      { id: "p1", payload: { at: "needle" } },
      { id: "p2", payload: "other" },
      { id: "needles", payload: 1, delay: "1h" },
      { id: "gone", payload: "the needle" },
      { id: "d", payload: "work", group: "needle" },
    ]);
    await queue.cancel("gone");
    await add("another", "x", ["needle"]);
    const all = await find("needle");
    expect(shown(all)).toEqual([
      "another x pending payload",
      "emails dead3 rejected error",
      "emails dead rejected error",
      "emails p1 pending payload",
      "emails needles delayed id",
      "emails done completed result",
    ]);
    expect(all).toMatchObject({ unsearched: 0, failed: [], cursor: null });
    expect(all.looked.queues).toBe(2);
    expect(all.tasks[0]).toMatchObject({ preview: '["needle"]' });
    expect(all.tasks[0]).not.toHaveProperty("payload");
    expect(shown(await find("needle", { state: "delayed" }))).toEqual(["emails needles delayed id"]);
    expect(shown(await find("needle", { queues: "an*" }))).toEqual(["another x pending payload"]);
    expect(shown(await find("Needle"))).toEqual([]);
    expect(shown(await find("attempts are used up"))).toEqual([]);
    expect(shown(await find("it was cancelled"))).toEqual(["emails gone rejected error"]);
  });

  test("first those with exactly that id, and each task once", async () => {
    await add("a", "order-1", "see order-1");
    await add("a", "order-10", 1);
    await add("b", "order-1", 1);
    await add("b", "other", { of: "order-1" });
    for (const size of [1, 2, 20]) {
      const found = await allPages((cursor) => find("order-1", { size, cursor }));
      expect(found.flatMap(shown)).toEqual([
        "a order-1 pending id",
        "b order-1 pending id",
        "a order-10 pending id",
        "b other pending payload",
      ]);
    }
  });

  test("byte for byte, also quotes, backslashes and other writing", async () => {
    for (const [i, payload] of [
      'say "yes"',
      "C:\\new\\dir",
      "übergröße 😀",
      "a\nb",
      { "key;x=": 1 },
    ].entries())
      await add("emails", `t${i}`, payload);
    for (const [i, text] of ['"yes"', "\\new\\", "größe 😀", "a\nb", 'y;x="'].entries())
      expect(shown(await find(text))).toEqual(i === 4 ? [] : [`emails t${i} pending payload`]);
    expect(shown(await find("key;x="))).toEqual(["emails t4 pending payload"]);
  });

  test("page by page, as far as one call looks", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([{ id: "first", payload: "needle" }]);
    for (let i = 0; i < 24; i++) await queue.enqueueMany(many(1_000));
    await add("z", "last", "needle");
    const found = await allPages((cursor) => find("needle", { cursor }));
    expect(found.flatMap(shown)).toEqual(["emails first pending payload", "z last pending payload"]);
    expect(found.map(({ looked }) => looked.tasks)).toEqual([20_000, 4_002]);
  });

  test("of partitions too", async () => {
    await rig.operator().resize(3);
    const queue = rig.queue({ partitions: 3 });
    await queue.enqueueMany(Array.from({ length: 9 }, (_, i) => ({ id: `t${i}`, payload: `needle ${i}` })));
    await bury(rig.queue({ partitions: 3 }), []);
    const found = await allPages((cursor) => find("needle", { size: 2, cursor }));
    expect(found.flatMap(({ tasks }) => tasks.map(({ id }) => id)).toSorted()).toEqual(
      Array.from({ length: 9 }, (_, i) => `t${i}`),
    );
    expect(shown(await find("t4"))).toEqual(["emails t4 rejected id"]);
  });
});

test("what is encrypted or in an object store is counted, not searched", async () => {
  await rig.queue({ encryption: encrypting() }).enqueue("needle", { id: "sealed" });
  const { queue } = withStore(rig);
  await queue.enqueue(large("needle"), { id: "large" });
  await rig.queue().enqueue("needle", { id: "plain" });
  const found = await find("needle");
  expect(shown(found)).toEqual(["emails plain pending payload"]);
  expect(found.unsearched).toBe(2);
  // Their ids are.
  expect(shown(await find("seal"))).toEqual(["emails sealed pending id"]);
});

test("a task whose error is encrypted is found by its id", async () => {
  await bury(rig.queue({ encryption: encrypting() }), [{ id: "sealed", payload: "needle" }]);
  expect(shown(await find("sealed"))).toEqual(["emails sealed rejected id"]);
  expect(await find("needle")).toMatchObject({ tasks: [], unsearched: 1 });
});

test("a queue that cannot be read does not fail the others", async () => {
  await add("a", "x", "needle");
  await add("b", "y", "needle");
  await rig.command("DEL", "sluice:{a}:tasks");
  await rig.command("SET", "sluice:{a}:tasks", "no hash");
  const found = await find("needle");
  expect(shown(found)).toEqual(["b y pending payload"]);
  expect(found.failed).toEqual([{ queue: "a", code: "redis_error" }]);
});

test("wrong options are refused", async () => {
  await rig.queue().enqueue(1);
  await expect(find("")).rejects.toMatchObject({ path: "text" });
  await expect(find("x".repeat(1_001))).rejects.toMatchObject({ path: "text" });
  await expect(find("a", { size: 0 })).rejects.toMatchObject({ path: "size" });
  await expect(find("a", { state: "dead" as never })).rejects.toMatchObject({ path: "state" });
  await expect(find("a", { queues: "a b" })).rejects.toMatchObject({ path: "queues" });
  for (const cursor of ["x", "[]", '["emails","other",""]', '["emails","pending","wrong"]'])
    await expect(find("a", { cursor })).rejects.toMatchObject({ path: "cursor" });
  await expect(rig.operator().search({ text: "a", of: "dead" as never })).rejects.toMatchObject({
    path: "of",
  });
});

test("a search changes nothing", async () => {
  await bury(rig.queue(), named(["a"]));
  await rig.queue().enqueueMany(named(["b", "c"], { group: "g" }));
  const before = await rig.keySpace();
  await find("a");
  expect(await rig.keySpace()).toEqual(before);
});
