import { beforeEach, describe, expect, test } from "vitest";
import { drain, Queue } from "../../../src/index.ts";
import { addBefore } from "../../../src/features/flows/add-before.ts";
import { addFlow } from "../../../src/features/flows/add-flow.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { batch, Flows, withFlows } from "../../../src/http/flows/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { flowOfTask } from "../../../src/kernel/linked/flow-of-task.ts";
import { readLayout } from "../../../src/kernel/linked/flow-layout.ts";
import { shardNamed } from "../../../src/kernel/linked/link.ts";
import { useRig } from "../../support/rig.ts";
import { flowQueueOf } from "./flow-queues.ts";

const rig = useRig({ checkInvariants: false });
const queues = new Map<string, Queue<string>>();
beforeEach(() => queues.clear());

const link = () => ({ transport: linked(rig.transport), now: () => rig.now });

function queue(name: string): Queue<string> {
  const known = queues.get(name) ?? new Queue<string>(name, link());
  queues.set(name, known);
  return known;
}

const queueOf = (name: string) => flowQueueOf(queue(name));
const item = (ref: string, at: string, after: FlowItem<string>["after"] = []): FlowItem<string> => ({
  ref,
  queue: at,
  payload: ref,
  after,
});

/** Takes the only ready task of a queue. */
async function take(at: string, ref: string) {
  const tasks = await queue(at).dequeue({ max: 10 });
  expect(tasks.map(({ payload }) => payload)).toEqual([ref]);
  return tasks[0] as (typeof tasks)[number];
}

type Taken = Awaited<ReturnType<typeof take>>;

/** Adds tasks by a working task. */
function grow(task: Taken, at: string, ref: string, items: readonly FlowItem<string>[]) {
  return addBefore({ receipt: task.receipt, store: queueOf(at).store }, ref, items, queueOf);
}

/** The refs of a flow with what each waits for. */
async function shown(flow: string, home: string) {
  const layout = await readLayout(shardNamed(link(), home), flow);
  const nodes = layout?.nodes ?? [];
  return nodes.map(({ ref, after }) =>
    [ref, ...after.map(({ from, on }) => `${nodes[from]?.ref} ${on}`)].join(" < "),
  );
}

const predecessorsOf = async (at: string, id: string) =>
  JSON.parse(String(await rig.command("HGET", `sluice:{${at}}:tasks`, `~p:${id}`))) as unknown;

describe("a working task", () => {
  test("adds tasks that what waits for it waits for too, and the flow as a whole", async () => {
    const { id, tasks } = await addFlow([item("crawl", "one"), item("index", "one", "crawl")], queueOf, {
      id: "f",
    });
    const crawl = await take("one", "crawl");
    const added = await grow(crawl, "one", "index", [item("a", "one"), item("b", "one", "a")]);
    expect(added).toMatchObject({
      ok: true,
      created: true,
      tasks: { a: expect.any(String), b: expect.any(String) },
    });
    await crawl.complete();
    await (await take("one", "a")).complete();
    await (await take("one", "b")).complete();
    const all = added.ok ? added.tasks : {};
    expect(await predecessorsOf("one", tasks["index"] as string)).toEqual([
      ["crawl", "0", "one"],
      ["crawl/a", all["a"]?.split("{")[0], "one"],
      ["crawl/b", all["b"]?.split("{")[0], "one"],
    ]);
    expect(await shown(id, "one")).toEqual([
      "crawl",
      "crawl/a",
      "crawl/b < crawl/a completed",
      "index < crawl completed < crawl/a completed < crawl/b completed",
    ]);
    await (await take("one", "index")).complete();
    expect(await queue("one").get(`flow{${id}}`)).toMatchObject({ state: "completed" });
  });

  test.for([
    ["one", "two", "three"],
    ["two", "one", "one"],
    ["two", "two", "three"],
    ["one", "two", "two"],
  ] as const)("adds tasks of other queues: it is in %s, what waits in %s, and they in %s", async (at) => {
    const [own, waiting, others] = at;
    const items = [item("first", "one"), item("crawl", own, "first"), item("index", waiting, "crawl")];
    const { id } = await addFlow(items, queueOf, { id: "f" });
    await (await take("one", "first")).complete();
    const crawl = await take(own, "crawl");
    expect(await grow(crawl, own, "index", [item("page", others)])).toMatchObject({ ok: true });
    await crawl.complete();
    const page = await take(others, "page");
    // What was added adds more in the same way.
    expect(await grow(page, others, "index", [item("image", own)])).toMatchObject({ ok: true });
    await page.complete();
    expect(await queue(waiting).counts()).toMatchObject({ blocked: 1 });
    await (await take(own, "image")).complete();
    await (await take(waiting, "index")).complete();
    expect(await queue("one").get(`flow{${id}}`)).toMatchObject({ state: "completed" });
    expect(await shown(id, "one")).toEqual([
      "first",
      "crawl < first completed",
      "crawl/page",
      "crawl/page/image",
      "index < crawl completed < crawl/page/image completed < crawl/page completed",
    ]);
  });

  test("lets what waits fall if one of the added tasks fails, and not if it waits for ends", async () => {
    await addFlow(
      [
        item("crawl", "one"),
        item("index", "two", "crawl"),
        item("clean", "three", { ref: "crawl", on: "ended" }),
      ],
      queueOf,
      { id: "f" },
    );
    const crawl = await take("one", "crawl");
    await grow(crawl, "one", "index", [item("a", "one")]);
    await grow(crawl, "one", "clean", [item("b", "one")]);
    await crawl.complete();
    for (const one of await queue("one").dequeue({ max: 2 })) await one.reject();
    expect(await queue("two").counts()).toMatchObject({ blocked: 0, rejected: 1 });
    await take("three", "clean");
    const report = await new Flows(link()).get("f@one");
    expect(report?.nodes.find(({ ref }) => ref === "index")).toMatchObject({ because: "crawl/a" });
  });

  test("of a drain may add them", async () => {
    const pages = queue("two");
    await addFlow([item("crawl", "one"), item("index", "three", "crawl")], queueOf, { id: "f" });
    await drain(withFlows(queue("one")), async (task) => {
      const added = await task.addBefore("index", [{ ref: "page", queue: pages, payload: "page" }]);
      expect(added).toMatchObject({ ok: true, tasks: { page: expect.any(String) } });
    });
    expect(await queue("three").counts()).toMatchObject({ blocked: 1 });
    await drain(withFlows(pages), () => "text");
    await drain(withFlows(queue("three")), async (task) => {
      expect(await task.before()).toMatchObject({ "crawl/page": { state: "completed", result: "text" } });
    });
    expect(await queue("three").counts()).toMatchObject({ blocked: 0, pending: 0 });
  });

  test("of a batch adds tasks to it, so its callbacks wait for them", async () => {
    const task = { queue: queue("one"), payload: "row" };
    const { tasks } = await batch([task], { completed: { queue: queue("two"), payload: "done" } });
    const row = await take("one", "row");
    expect(await grow(row, "one", "completed", [item("more", "one")])).toMatchObject({ ok: true });
    await row.complete();
    expect(await queue("two").dequeue()).toHaveLength(0);
    await (await take("one", "more")).complete();
    await take("two", "done");
    expect(await predecessorsOf("two", tasks["completed"] as string)).toEqual([
      ["1", "0", "one"],
      ["1/more", expect.any(String), "one"],
    ]);
  });

  test("adds the same tasks once, and refuses other ones with their refs", async () => {
    await addFlow([item("crawl", "one"), item("index", "one", "crawl")], queueOf, { id: "f" });
    const crawl = await take("one", "crawl");
    const first = await grow(crawl, "one", "index", [item("a", "one")]);
    expect(await grow(crawl, "one", "index", [item("a", "one")])).toEqual({ ...first, created: false });
    await expect(grow(crawl, "one", "index", [item("a", "one"), item("b", "one")])).rejects.toThrow(
      "crawl/a already",
    );
    await expect(grow(crawl, "one", "crawl", [item("c", "one")])).rejects.toThrow("these do: index");
    expect((await queue("one").dequeue({ max: 9 })).map(({ payload }) => payload)).toEqual(["a"]);
  });

  test("adds tasks that add tasks, until the refs are too long, or the tasks too many; their ids stay short", async () => {
    const long = (n: number) => String(n).padEnd(128, "x");
    await addFlow([item(long(0), "one"), item("end", "one", long(0))], queueOf, { id: "f" });
    for (let level = 0; level < 6; level++) {
      const task = await take("one", long(level));
      expect([task.id.length <= 22, flowOfTask(task.id)]).toEqual([true, "f@one"]);
      await grow(task, "one", "end", [item(long(level + 1), "one")]);
      await task.complete();
    }
    const last = await take("one", long(6));
    const add = (items: FlowItem<string>[]) => grow(last, "one", "end", items);
    await expect(add([item(long(7), "one")])).rejects.toMatchObject({
      code: "invalid_argument",
      path: "tasks[0].ref",
    });
    const many = Array.from({ length: 9_993 }, (_, i) => item(String(i), "one"));
    await expect(add(many)).rejects.toMatchObject({
      message: expect.stringContaining("at most 10000, with those added later"),
    });
    expect(await queue("one").counts()).toMatchObject({ pending: 0, blocked: 1 });
  });

  test("adds nothing once its lease is lost, or if what waits for it waits no more", async () => {
    const { tasks } = await addFlow([item("crawl", "one"), item("index", "one", "crawl")], queueOf, {
      id: "f",
    });
    const crawl = await take("one", "crawl");
    await queue("one").cancel(tasks["index"] as string);
    expect(await grow(crawl, "one", "index", [item("a", "one")])).toEqual({ ok: false, code: "not_blocked" });
    await crawl.complete();
    expect(await grow(crawl, "one", "index", [item("a", "one")])).toEqual({ ok: false, code: "lease_lost" });
    expect(await queue("one").dequeue()).toHaveLength(0);
  });
});
