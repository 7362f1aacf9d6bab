import { describe, expect, test, vi } from "vitest";
import { deepSweep, Queue } from "../../../src/index.ts";
import { Shard } from "../../../src/kernel/shard.ts";
import { DeepPass, START } from "../../../src/features/repair/deep-pass.ts";
import type { Findings } from "../../../src/sweep/deep-part.ts";
import { deepTools, pageByPage } from "../../support/deep.ts";
import { instances } from "../../support/instances.ts";
import { numbered } from "../../support/new-tasks.ts";
import { roomFor } from "../../support/no-room.ts";
import { allPages } from "../../support/paging.ts";
import { key, QUEUE, useRig } from "../../support/rig.ts";

// How the deep sweep is called: for which queues, in which steps, within which bounds, and what it refuses.
const rig = useRig();
const { runDeepSweep, found, enqueue, drained } = deepTools(rig);

describe("queues", () => {
  const queue = (name: string) => new Queue(name, { transport: rig.transport, now: () => rig.now });

  test("are all registered ones, those chosen by a filter, or one that is not registered", async () => {
    for (const name of ["c", "a", "b"]) {
      await queue(name).enqueue(1, { id: "t" });
      await rig.command("DEL", `sluice:{${name}}:pending`);
    }
    await rig.command("ZREM", "sluice:queues", "c");
    const names = async (options: Parameters<typeof runDeepSweep>[0]) => {
      const { faults, queues } = await runDeepSweep(options);
      return [queues, ...faults.map(({ queue: name, fault, ids }) => [name, fault, ...ids])];
    };
    expect(await names({ queues: (name) => name !== "a" })).toEqual([1, ["b", "place_missing", "t"]]);
    expect(await names({})).toEqual([2, ["a", "place_missing", "t"]]);
    expect(await names({ queue: "c", examples: 0 })).toEqual([1, ["c", "place_missing"]]);
    expect(await names({ queue: "nothing there".replaceAll(" ", "-") })).toEqual([1]);
  });

  test("that cannot be checked are reported, and the others are checked", async () => {
    for (const name of ["a", "b", "c"]) await queue(name).enqueue(1, { id: "t" });
    await rig.command("SET", "sluice:{a}:dead", "text");
    await rig.command("HSET", "sluice:{b}:tasks", "~set", "3;new");
    await rig.command("DEL", "sluice:{c}:pending");
    expect(await runDeepSweep()).toMatchObject({
      queues: 1,
      faults: [{ queue: "c", fault: "place_missing" }],
      failed: [
        { queue: "a", code: "redis_error" },
        { queue: "b", code: "newer_schema" },
      ],
      cursor: null,
    });
  });

  test("are all checked and repaired, call by call, also with a budget of 0", async () => {
    for (const name of ["a", "b", "c"]) {
      await queue(name).enqueueMany([
        { payload: 1, id: "x" },
        { payload: 2, id: "y", delay: 5 },
      ]);
      await rig.command("DEL", `sluice:{${name}}:pending`, `sluice:{${name}}:delayed`);
    }
    const reports = await allPages((cursor = "a/working/0") => runDeepSweep({ budget: 0, cursor }));
    const repaired = reports
      .flatMap(({ faults }) => faults)
      .flatMap(({ queue: name, ids }) => ids.map((id) => `${name} ${id}`));
    expect(repaired.toSorted()).toEqual(["a x", "a y", "b x", "b y", "c x", "c y"]);
  });

  test("that are removed between two calls are skipped", async () => {
    for (const name of ["a", "c"]) await queue(name).enqueue(1);
    expect(await runDeepSweep({ cursor: "b/tasks/17" })).toMatchObject({
      queues: 1,
      failed: [],
      cursor: null,
    });
  });
});

test("an abort stops it before the next request", async () => {
  await enqueue("a");
  const stop = new AbortController();
  let sent = 0;
  const transport = instances(rig).instance((request) => {
    sent++;
    if (request === 3) stop.abort();
  });
  await expect(deepSweep(pageByPage(transport), { signal: stop.signal })).rejects.toMatchObject({
    code: "aborted",
  });
  expect(sent).toBe(4);
});

describe("bounds", () => {
  test("large payloads are read a few at a time, and repaired with their errors intact", async () => {
    const ids = numbered(20).map(({ id }) => id);
    for (const id of ids) await rig.queue().enqueue("x".repeat(900_000), { id, maxAttempts: 0 });
    const error = { text: "e".repeat(10_000) };
    for (const task of await rig.queue().dequeue({ max: 5 })) await task.requeue({ error });
    await rig.command("DEL", key("pending"));
    const send = vi.spyOn(rig.transport, "send");
    const { faults } = await runDeepSweep();
    const sizes = send.mock.calls.flatMap(([commands]) =>
      commands.flatMap((command) =>
        "script" in command && command.args[1] === "tasks" ? [Number(command.args[3])] : [],
      ),
    );
    expect(faults).toMatchObject([{ fault: "place_missing", count: 20 }]);
    // Four megabytes a request, or some more if there are control fields among them.
    expect(Math.max(...sizes)).toBeLessThanOrEqual(16);
    expect(sizes[1]).toBeLessThanOrEqual(4);
    expect((await runDeepSweep()).faults).toEqual([]);
    expect(await rig.queue().get("t3")).toMatchObject({ state: "pending", error });
    expect((await rig.space()).pending.toSorted()).toEqual(ids.toSorted());
  });

  test("more tasks than it compares with the list at once, some without a place, some in two", async () => {
    await enqueue(...numbered(900).map(({ id }) => id));
    for (let i = 0; i < 60; i++) await rig.command("LSET", key("pending"), String(i * 14), `t${i * 11}`);
    const missing = 900 - new Set((await rig.space()).pending).size;
    expect(missing).toBeGreaterThan(50);
    const found: Record<string, number> = {};
    const findings: Findings = {
      checked: () => {},
      found: (fault) => (found[fault] = (found[fault] ?? 0) + 1),
    };
    const shard = new Shard({ name: QUEUE, transport: rig.transport, now: () => rig.now });
    const pass = new DeepPass(shard, { maxExpected: 200 }, findings);
    expect(await pass.continueFrom(START, () => false)).toBe(null);
    expect(found).toEqual({ two_places: missing, place_missing: missing });
    expect((await drained()).length).toBe(900);
  });

  test("groups with more tasks than one call counts are counted page by page, if they do not change", async () => {
    for (let i = 0; i < 3; i++) await rig.queue().enqueueMany(numbered(700, { group: `g${i}` }, `t${i}-`));
    await rig.queue().dequeue({ max: 50 });
    await rig.command("HSET", key("tasks"), "~g:g0", "1;w=9", "~g:g1", "1;0=5,3");
    let audits = 0;
    const transport = instances(rig).instance(async (_, commands) => {
      const fair = commands.some((command) => "script" in command && command.args[1] === "fair");
      // While they are counted, one group changes.
      if (fair && ++audits % 4 === 0) await rig.queue().enqueue(1, { group: "g1" });
    });
    const { faults } = await deepSweep(transport, { now: () => rig.now });
    expect(faults).toMatchObject([{ fault: "group_wrong", ids: ["g0"] }]);
    expect(await found()).toEqual({ group_wrong: ["g1"] });
  });
});

test("a full Redis refuses the repair as a whole, and a later deep sweep repairs it", async () => {
  await enqueue("a", "b", { id: "g", group: "g" });
  await rig.command("LREM", key("pending"), "1", "a");
  await rig.command("DEL", key("fair"), key("fair-by-group"));
  const before = await rig.keySpace();
  expect(await deepSweep(roomFor(rig.transport, 0), { now: () => rig.now })).toMatchObject({
    queues: 0,
    faults: [],
    failed: [{ queue: QUEUE, code: "queue_full" }],
  });
  expect(await rig.keySpace()).toEqual(before);
  expect(await found()).toMatchObject({ place_missing: ["a", "g"] });
  expect((await drained()).toSorted()).toEqual(["a", "b", "g"]);
});
