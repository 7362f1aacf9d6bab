import { describe, expect, onTestFinished, test } from "vitest";
import { resp } from "../../../src/transports/resp.ts";
import { useRig } from "../../support/rig.ts";
import { useKeyed } from "./keyed-queue.ts";

const rig = useRig();
const { queue, begin, payloads } = useKeyed(rig);
const waiting = { key: "sync-7", while: "waiting" } as const;
const unfinished = { key: "sync-7", while: "unfinished" } as const;

describe("a singleton while it waits", () => {
  test("drops further tasks until a consumer begins it: one works, one waits", async () => {
    const { id } = await queue().enqueue(1, { singleton: waiting });
    expect(await queue().enqueue(2, { singleton: waiting })).toEqual({
      id,
      created: false,
      outcome: "dropped",
    });
    expect(await payloads()).toEqual([1]);
    const next = await queue().enqueue(3, { singleton: waiting });
    expect(next).toMatchObject({ outcome: "created" });
    expect(await queue().enqueue(4, { singleton: waiting })).toMatchObject({
      id: next.id,
      outcome: "dropped",
    });
    expect(await payloads()).toEqual([3]);
  });

  test("is replaced, with its payload and options, in its place in line", async () => {
    const singleton = { ...waiting, then: "replace" } as const;
    const { id } = await queue().enqueue(1, { singleton });
    await queue().enqueue("other");
    expect(await queue().enqueue(2, { singleton, headers: { a: "b" } })).toEqual({
      id,
      created: false,
      outcome: "replaced",
    });
    expect(await begin()).toMatchObject([{ id, payload: 2, headers: { a: "b" } }, { payload: "other" }]);
    expect(await queue().enqueue(3, { singleton })).toMatchObject({ outcome: "created" });
  });

  test("is cancelled for a new one", async () => {
    const singleton = { ...waiting, then: "cancel" } as const;
    const first = await queue().enqueue(1, { singleton });
    const second = await queue().enqueue(2, { singleton, delay: "1m" });
    const third = await queue().enqueue(3, { singleton, group: "a" });
    const fourth = await queue().enqueue(4, { singleton });
    for (const { id } of [first, second, third]) {
      expect(await queue().get(id)).toMatchObject({ state: "rejected", reason: "cancelled" });
    }
    expect(fourth).toMatchObject({ created: true, outcome: "created" });
    expect(await payloads()).toEqual([4]);
  });

  test("that is delayed waits too", async () => {
    const { id } = await queue().enqueue(1, { singleton: waiting, delay: "1m" });
    expect(await queue().enqueue(2, { singleton: waiting })).toMatchObject({ id, outcome: "dropped" });
  });
});

describe("a singleton while it is unfinished", () => {
  test("drops further tasks until it has ended", async () => {
    const { id } = await queue().enqueue(1, { singleton: unfinished });
    const [task] = await begin();
    expect(await queue().enqueue(2, { singleton: unfinished })).toMatchObject({ id, outcome: "dropped" });
    await task?.requeue({ delay: "1m" });
    expect(await queue().enqueue(3, { singleton: unfinished })).toMatchObject({ id, outcome: "dropped" });
    rig.now += 60_000;
    await (await begin())[0]?.complete();
    expect(await queue().enqueue(4, { singleton: unfinished })).toMatchObject({ outcome: "created" });
  });

  test.each(["rejected", "cancelled", "removed", "redriven"])(
    "and was %s lets another one begin",
    async (how) => {
      const { id } = await queue().enqueue(1, { singleton: unfinished });
      if (how === "cancelled") await queue().cancel(id);
      else await (await begin())[0]?.reject();
      if (how === "removed") await rig.operator().remove(id);
      expect(await queue().enqueue(2, { singleton: unfinished })).toMatchObject({ outcome: "created" });
      if (how !== "redriven") return;
      // Two are unfinished then: an operator has asked for it.
      await rig.operator().redrive({ ids: [id] });
      expect(await payloads()).toEqual([2, 1]);
    },
  );

  test("flags one that works, and begins another one beside it", async () => {
    const singleton = { ...unfinished, then: "cancel" } as const;
    const { id } = await queue().enqueue(1, { singleton });
    const [task] = await begin();
    expect(await queue().enqueue(2, { singleton })).toMatchObject({ outcome: "created" });
    expect(await queue().get(id)).toMatchObject({ state: "working", cancelRequested: true });
    expect(await task?.extend()).toMatchObject({ cancelRequested: true });
  });

  test("is replaced as long as it waits; then the next one waits beside it", async () => {
    const singleton = { ...unfinished, then: "replace" } as const;
    await queue().enqueue(1, { singleton });
    await queue().enqueue(2, { singleton });
    expect(await payloads()).toEqual([2]);
    const { id } = await queue().enqueue(3, { singleton });
    expect(await queue().enqueue(4, { singleton })).toMatchObject({ id, outcome: "replaced" });
    expect(await payloads()).toEqual([4]);
  });

  test("does not mix with another life of its id", async () => {
    await queue().enqueue(1, { id: "sync", singleton: unfinished });
    await (await begin())[0]?.complete();
    rig.now += 1;
    await queue().enqueue(2, { id: "sync", again: true });
    expect(await queue().enqueue(3, { singleton: unfinished })).toMatchObject({ outcome: "created" });
  });
});

test("a cancelled one frees its place in a queue that is full", async () => {
  await rig.operator().configure({ maxPending: 1 });
  const singleton = { ...waiting, then: "cancel" } as const;
  await queue().enqueue(1, { singleton });
  expect(await queue().enqueue(2, { singleton })).toMatchObject({ outcome: "created" });
  await expect(queue().enqueue(3)).rejects.toMatchObject({ code: "queue_full" });
});

test("is not replaced by one that is ready if the queue is full", async () => {
  await rig.operator().configure({ maxPending: 1 });
  const singleton = { ...waiting, then: "replace" } as const;
  const { id } = await queue().enqueue(1, { singleton, delay: "1m" });
  await queue().enqueue("other");
  await expect(queue().enqueue(2, { singleton })).rejects.toMatchObject({ code: "queue_full" });
  expect(await queue().get(id, { payload: true })).toMatchObject({ state: "delayed", payload: 1 });
});

test("statistics have what a call has done", async () => {
  await rig.operator().configure({ statistics: true });
  const singleton = { ...waiting, then: "cancel" } as const;
  await queue().enqueue(1, { singleton });
  await queue().enqueue(2, { singleton });
  await queue().enqueue(3, { singleton: waiting });
  const { tasks } = await rig.space();
  expect(tasks.get("~stats")).toMatch(/;cE=2;cancelled=1;enqueued=2$/);
});

test("events have what a call has done; a replaced or dropped payload is none", async () => {
  await rig.operator().configure({ events: true });
  const listener = resp({ url: rig.redis.url });
  onTestFinished(() => listener.close());
  const events = await rig.queue({ transport: listener }).events({ warn: false });
  const add = (then: "drop" | "replace" | "cancel", state: typeof waiting | typeof unfinished = waiting) =>
    queue().enqueue(then, { singleton: { ...state, then } });
  const { id: first } = await add("drop");
  await add("drop");
  await add("replace");
  const { id: second } = await add("cancel");
  await begin();
  const { id: third } = await add("cancel", unfinished);
  const found: [event: string, ...ids: string[]][] = [];
  for await (const { event, ids } of events) {
    found.push([event, ...ids]);
    if (event === "enqueued" && ids[0] === third) break;
    if (found.length === 10) break;
  }
  expect(found).toEqual([
    ["enqueued", first],
    ["cancelled", first],
    ["enqueued", second],
    ["dequeued", second],
    ["cancelRequested", second],
    ["enqueued", third],
  ]);
});

test.each(["waiting", "unfinished"] as const)(
  "an older task of the key that is removed frees it from no newer one: %s",
  async (state) => {
    const singleton = { key: "sync-7", while: state } as const;
    const { id: old } = await queue().enqueue(1, { singleton });
    await (await begin())[0]?.reject({ error: "no" });
    const { id } = await queue().enqueue(2, { singleton });
    expect(await rig.operator().remove(old)).toMatchObject({ ok: true });
    expect(await queue().enqueue(3, { singleton })).toEqual({ id, created: false, outcome: "dropped" });
  },
);

test("forgetKey by a handler lets another one begin beside its task, whose end then frees nothing", async () => {
  await queue().enqueue(1, { singleton: unfinished });
  const [task] = await begin();
  expect(await queue().forgetKey("sync-7")).toBe(true);
  const { id } = await queue().enqueue(2, { singleton: unfinished });
  await task?.complete();
  expect(await queue().enqueue(3, { singleton: unfinished })).toMatchObject({ id, outcome: "dropped" });
});

test("forgetKey by an older task forgets the newer one", async () => {
  await queue().enqueue(1, { singleton: waiting });
  const [older] = await begin();
  await queue().enqueue(2, { singleton: waiting });
  expect(await queue().forgetKey("sync-7")).toBe(true);
  await older?.complete();
  expect(await queue().enqueue(3, { singleton: waiting })).toMatchObject({ outcome: "created" });
  expect(await payloads()).toEqual([2, 3]);
});

test("a paused queue keeps one task of a key, which changes until it is resumed", async () => {
  const debounce = { key: "page", wait: "5s" } as const;
  await rig.operator().pause();
  for (const payload of ["old", "new"]) {
    await queue().enqueue(payload, { debounce });
    await queue().enqueue(payload, { singleton: { ...unfinished, then: "replace" } });
  }
  rig.now += 60_000;
  await rig.sweepOnce();
  expect(await payloads()).toEqual([]);
  expect(await queue().enqueue("newer", { debounce })).toMatchObject({ outcome: "replaced" });
  expect(await queue().enqueue("dropped", { singleton: waiting })).toMatchObject({ outcome: "dropped" });
  await rig.operator().resume();
  expect(new Set(await payloads())).toEqual(new Set(["new", "newer"]));
  expect(await queue().enqueue("next", { debounce })).toMatchObject({ outcome: "created" });
});
