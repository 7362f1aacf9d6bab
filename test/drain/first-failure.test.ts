import { afterEach, expect, test, vi } from "vitest";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { givenUpError, pause, reportedWithMore, thrower } from "./draining.ts";

// A drain loads what failed attempts need with the first one, which takes a while.
const rig = useRig();
const queue = () => rig.queue<number>();
const NEEDED = "../../src/drain/failed-attempt.ts";

/** The drain of a function instance that has just begun. What failed attempts need is loaded after `ready`. */
async function freshDrain(ready: () => Promise<unknown>) {
  vi.resetModules();
  vi.doMock(NEEDED, async (load) => {
    await ready();
    return load();
  });
  return (await import("../../src/drain/drain.ts")).drain;
}

afterEach(() => {
  vi.doUnmock(NEEDED);
  vi.resetModules();
});

test("a failed attempt is settled with its own error, even if the budget ends meanwhile", async () => {
  await queue().enqueueMany(numbered(3));
  const drain = await freshDrain(() => pause(1_800));
  const handler = ({ payload }: { payload: number }) =>
    payload === 1 ? thrower(new Error("mine"))() : payload;
  const report = await drain(queue(), handler, { budget: 1_500, timeout: 50 });
  expect(report).toEqual(reportedWithMore({ completed: 2, requeued: 1, ended: "budget" }));
  expect(await queue().get("t1")).toMatchObject({
    state: "delayed",
    error: { name: "Error", message: "mine" },
  });
});

test("a call that is given up is settled once, and what its handler returns meanwhile is dropped", async () => {
  await queue().enqueueMany(numbered(1));
  let end = () => {};
  const returned = new Promise<void>((resolve) => (end = resolve));
  const drain = await freshDrain(() => returned);
  const handler = async () => {
    await pause(700);
    setTimeout(end, 50);
  };
  const report = await drain(queue(), handler, { timeout: 50, budget: "5s" });
  expect(report).toEqual(reportedWithMore({ requeued: 1 }));
  expect(await queue().get("t0")).toMatchObject({ state: "delayed", error: givenUpError("timeout") });
});

test("an abort waits for it", async () => {
  await queue().enqueueMany(numbered(2));
  const drain = await freshDrain(() => pause(200));
  const aborting = new AbortController();
  const handler = () => {
    aborting.abort();
    throw new Error("mine");
  };
  const report = await drain(queue(), handler, { signal: aborting.signal });
  expect(report).toEqual(reportedWithMore({ requeued: 1, handedBack: 1, ended: "aborted" }));
});

test("if it cannot be loaded, the drain fails once it has settled the others", async () => {
  await queue().enqueueMany(numbered(2));
  const drain = await freshDrain(() => Promise.reject(new Error("no such file")));
  const handler = async ({ payload }: { payload: number }) => {
    if (payload === 0) throw new Error("mine");
    await pause(200);
  };
  await expect(drain(queue(), handler)).rejects.toThrow();
  expect(await queue().get("t0")).toMatchObject({ state: "working" });
  expect(await queue().get("t1")).toMatchObject({ state: "completed" });
});

test.each<[what: string, result: (payload: number) => unknown, change: (result: never) => void]>([
  ["bytes", (payload) => new Uint8Array([payload, 2, 3, 4]), (bytes: Uint8Array) => bytes.fill(9)],
  [
    "a large result",
    (payload) => ({ payload, text: "x".repeat(400_000) }),
    (result: { payload: number }) => (result.payload = 9),
  ],
])("%s of a handler may change as soon as it has returned", async (_, made, change) => {
  await queue().enqueueMany(numbered(2));
  const drain = await freshDrain(() => pause(100));
  const report = await drain(queue(), async ({ payload }) => {
    const result = made(payload);
    setTimeout(() => change(result as never));
    return result;
  });
  expect(report).toMatchObject({ completed: 2 });
  for (const [i, id] of ["t0", "t1"].entries())
    expect(await queue().get(id)).toMatchObject({ state: "completed", result: made(i) });
});
