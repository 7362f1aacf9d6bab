import { describe, expect, test } from "vitest";
import { useRig } from "../../support/rig.ts";
import { useKeyed } from "./keyed-queue.ts";

const rig = useRig();
const { queue, begin, payloads } = useKeyed(rig);
const KEY = { key: "page-7", wait: "5s" } as const;

describe("a debounced task", () => {
  test("is due when no enqueue has come for as long as `wait`, with the last payload and its options", async () => {
    const search = queue();
    const first = await search.enqueue(1, { debounce: KEY, maxAttempts: 3 });
    expect(first).toEqual({ id: first.id, created: true, outcome: "created" });
    rig.now += 4_000;
    expect(await search.enqueue(2, { debounce: KEY, headers: { a: "b" } })).toEqual({
      id: first.id,
      created: false,
      outcome: "replaced",
    });
    rig.now += 4_999;
    expect(await payloads()).toEqual([]);
    rig.now += 1;
    expect(await begin()).toMatchObject([{ id: first.id, payload: 2, headers: { a: "b" }, attempt: 1 }]);
  });

  test("is due `maxWait` after the first enqueue at the latest", async () => {
    const debounce = { ...KEY, maxWait: "12s" } as const;
    for (let call = 0; call < 3; call++) {
      await queue().enqueue(call, { debounce });
      rig.now += 4_000;
    }
    expect(await payloads()).toEqual([2]);
  });

  test("with a `maxWait` below `wait` is due then", async () => {
    await queue().enqueue(1, { debounce: { ...KEY, maxWait: "1s" } });
    rig.now += 1_000;
    expect(await payloads()).toEqual([1]);
  });

  test("keeps the first payload and its options, if asked; each call begins the wait anew", async () => {
    const debounce = { ...KEY, keep: "first" } as const;
    const { id } = await queue().enqueue(1, { debounce, headers: { first: "1" } });
    rig.now += 4_000;
    expect(await queue().enqueue(2, { debounce })).toEqual({ id, created: false, outcome: "dropped" });
    rig.now += 4_000;
    expect(await payloads()).toEqual([]);
    rig.now += 1_000;
    expect(await begin()).toMatchObject([{ id, payload: 1, headers: { first: "1" } }]);
  });

  test("stays due once it is, while no consumer has begun it, and gets the payload of later calls", async () => {
    const { id } = await queue().enqueue(1, { debounce: KEY });
    rig.now += 5_000;
    expect(await queue().enqueue(2, { debounce: KEY })).toMatchObject({ id, outcome: "replaced" });
    await rig.sweepOnce();
    expect(await queue().enqueue(3, { debounce: KEY })).toMatchObject({ id, outcome: "replaced" });
    expect(await payloads()).toEqual([3]);
  });

  test("that a consumer has begun is left alone: the next call begins another one", async () => {
    const { id } = await queue().enqueue(1, { debounce: KEY });
    rig.now += 5_000;
    const [task] = await begin();
    const next = await queue().enqueue(2, { debounce: KEY });
    expect(next).toMatchObject({ created: true, outcome: "created" });
    expect(next.id).not.toBe(id);
    // A task that waits for its retry has begun too.
    await task?.requeue();
    expect(await queue().enqueue(3, { debounce: KEY })).toMatchObject({ id: next.id, outcome: "replaced" });
    expect(await payloads()).toEqual([1]);
    rig.now += 5_000;
    expect(await payloads()).toEqual([3]);
  });

  test.each(["cancelled", "purged", "completed"])("that was %s is replaced by another one", async (how) => {
    const { id } = await queue().enqueue(1, { debounce: KEY });
    if (how === "cancelled") await queue().cancel(id);
    else if (how === "purged") await rig.operator().purge({ state: "delayed" });
    else {
      rig.now += 5_000;
      await (await begin())[0]?.complete();
    }
    expect(await queue().enqueue(2, { debounce: KEY })).toMatchObject({ outcome: "created" });
  });

  test("is of one key and one queue", async () => {
    await queue().enqueue(1, { debounce: KEY });
    expect(await queue().enqueue(2, { debounce: { ...KEY, key: "page-8" } })).toMatchObject({
      created: true,
    });
  });

  test("may have a group and a priority, which a later call changes", async () => {
    await queue().enqueue(1, { debounce: KEY, group: "a" });
    await queue().enqueue(2, { debounce: KEY, group: "b", priority: 3 });
    rig.now += 5_000;
    await rig.sweepOnce();
    await queue().enqueue(3, { debounce: KEY, group: "c" });
    await queue().enqueue(4, { debounce: KEY });
    await queue().enqueue(5, { debounce: KEY, priority: 9 });
    expect(await payloads()).toEqual([5]);
  });

  test("is where a consumer is woken for it later", async () => {
    const woken: unknown[] = [];
    const wake = {
      wake: () => void woken.push("now"),
      wakeAt: (_: string, at: number) => void woken.push(at - rig.now),
    };
    const search = queue({ wake });
    await search.enqueue(1, { debounce: KEY });
    await search.enqueue(2, { throttle: { key: "a", most: 1, per: "1m" } });
    expect(woken).toEqual([5_000, "now"]);
  });
});

describe("a list of all payloads", () => {
  const debounce = { ...KEY, keep: "all" } as const;

  test("has them in order, with the options of the first call", async () => {
    const { id } = await queue().enqueue({ a: 1 }, { debounce, headers: { first: "1" } });
    for (const payload of ["ü", [], null]) {
      expect(await queue().enqueue(payload, { debounce })).toEqual({
        id,
        created: false,
        outcome: "appended",
      });
    }
    rig.now += 5_000;
    expect(await begin()).toMatchObject([{ payload: [{ a: 1 }, "ü", [], null], headers: { first: "1" } }]);
  });

  test("of 1,000 starts at once, and another one begins", async () => {
    const ids = new Set<string>();
    for (let call = 1; call <= 1_001; call++) ids.add((await queue().enqueue(call, { debounce })).id);
    expect(ids.size).toBe(2);
    expect(await payloads()).toEqual([Array.from({ length: 1_000 }, (_, i) => i + 1)]);
    rig.now += 5_000;
    expect(await payloads()).toEqual([[1_001]]);
  });

  test("of 1 MiB starts at once, and another one begins", async () => {
    const text = "x".repeat(400_000);
    const outcomes = [];
    for (let call = 0; call < 3; call++) outcomes.push((await queue().enqueue(text, { debounce })).outcome);
    expect(outcomes).toEqual(["created", "appended", "created"]);
    expect(await payloads()).toEqual([[text, text]]);
  });

  test("goes on with a payload that another call has left, and ends with one", async () => {
    await queue().enqueue(1, { debounce: KEY });
    await queue().enqueue(2, { debounce });
    await queue().enqueue(3, { debounce });
    rig.now += 5_000;
    expect(await payloads()).toEqual([[1, 2, 3]]);
    await queue().enqueue(4, { debounce });
    await queue().enqueue(5, { debounce: KEY });
    await queue().enqueue(6, { debounce });
    rig.now += 5_000;
    expect(await payloads()).toEqual([[5, 6]]);
  });

  test("is one payload of the next list if it was replaced by its id", async () => {
    const { id } = await queue().enqueue(1, { debounce });
    await queue().enqueue(2, { debounce });
    await queue().enqueue({ a: [3] }, { id, replace: true });
    expect(await queue().enqueue(4, { debounce })).toMatchObject({ id, outcome: "appended" });
    expect(await payloads()).toEqual([[{ a: [3] }, 4]]);
  });

  test("cannot go on with bytes: they start at once", async () => {
    await queue().enqueue(new Uint8Array([1]), { debounce: KEY });
    expect(await queue().enqueue(2, { debounce })).toMatchObject({ outcome: "created" });
    expect(await payloads()).toEqual([new Uint8Array([1])]);
  });
});
