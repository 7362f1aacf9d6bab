import { describe, expect, test } from "vitest";
import { task, useFlowRig } from "./flow-rig.ts";

// Tasks that a working task adds in front of one that waits for it: what may happen on the way.

const { rig, queue, flows, sweep, add, take } = useFlowRig();

/** A task that works and has added another one, in front of the last. */
async function grown(items = [task("first"), task("last", "first", { queue: "two" })]) {
  await add(items);
  const first = await take();
  expect(await first.addBefore("last", [row()])).toMatchObject({ ok: true, created: true });
  return first;
}

const row = () => ({ ref: "row", queue: queue("one"), payload: "row" });
const last = () => queue("two").counts();

describe("a task that has added another one", () => {
  test("may end after it", async () => {
    const first = await grown();
    await (await take()).complete();
    expect(await last()).toMatchObject({ blocked: 1 });
    await first.complete();
    expect((await take("two")).payload).toBe("last");
  });

  test("may still work when that fails: what waits for both falls", async () => {
    const first = await grown();
    await (await take()).reject("no row");
    expect(await last()).toMatchObject({ blocked: 0, rejected: 1 });
    // It cannot add more in front of it then.
    expect(await first.addBefore("last", [{ ...row(), ref: "more" }])).toEqual({
      ok: false,
      code: "not_blocked",
    });
    await first.complete();
    expect(await flows().get("f@one")).toMatchObject({ state: "rejected" });
  });

  test("may fail after it: what waits falls, and what was added still runs", async () => {
    const first = await grown();
    await first.reject("no");
    expect(await last()).toMatchObject({ blocked: 0, rejected: 1 });
    await (await take()).complete();
    expect(await flows().get("f@one")).toMatchObject({
      state: "rejected",
      counts: { completed: 1, rejected: 2 },
    });
  });

  test.for(["requeued", "expired"] as const)("adds nothing more when it runs again, %s", async (how) => {
    const first = await grown();
    if (how === "requeued") await first.requeue();
    else rig.now += 600_000;
    await sweep();
    // A task whose lease has expired comes alone.
    const tasks = [...(await queue("one").dequeue({ max: 9 })), ...(await queue("one").dequeue({ max: 9 }))];
    expect(tasks.map(({ payload }) => payload).toSorted()).toEqual(["first", "row"]);
    for (const one of tasks) await one.requeue({ delay: one.payload === "row" ? "1h" : 0 });
    const again = await take();
    expect(again.attempt).toBeGreaterThan(1);
    expect(await again.addBefore("last", [row()])).toMatchObject({ ok: true, created: false });
    await again.complete();
    // A delayed retry of what was added holds the last one back.
    expect(await last()).toMatchObject({ blocked: 1 });
    rig.now += 3_600_000;
    await (await take()).complete();
    expect((await take("two")).payload).toBe("last");
  });
});
