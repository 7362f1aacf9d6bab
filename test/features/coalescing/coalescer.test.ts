import { setImmediate as macrotask } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Coalesce, Coalescer, type Kind } from "../../../src/features/coalescing/coalescer.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { times } from "../../support/recorded.ts";

const transport = (): Transport => ({ send: async () => [] });

/** A promise, and the function that resolves it. */
function deferred() {
  let resolve: (item: string) => void = () => {};
  return {
    promise: new Promise<string>((done) => (resolve = done)),
    resolve: (item: string) => resolve(item),
  };
}

/** A fake request: its texts, its signal, and the function that ends it. */
interface Request {
  readonly items: readonly string[];
  readonly signal: AbortSignal | undefined;
  answer(): void;
  fail(error: Error): void;
}

/** An item, which may have to be prepared. */
type Text = string | Promise<string>;

/** A kind of call that `send` sends, alone and with others. */
const kindOf = (
  send: (items: readonly string[], signal: AbortSignal | undefined) => Promise<readonly string[]>,
  most = 100,
): Kind<Text, string> => ({
  alone: async (item) => (await send([await item], undefined))[0] as string,
  together: () => ({
    most,
    prepare: async (item) => item,
    bytes: (item) => (item as string).length,
    async send(calls, signal) {
      const answers = await send(
        calls.map(({ item }) => item as string),
        signal,
      );
      for (const [i, answer] of answers.entries()) calls[i]?.answer(answer);
    },
  }),
});

/** A coalescer of one kind of call, whose answers are the items in capitals. */
function fake(mode?: Coalesce, { most = 100, at = transport(), at_once = true } = {}) {
  const requests: Request[] = [];
  const coalescer = new Coalescer(mode, at);
  const kind = kindOf(async (items, signal) => {
    await new Promise<void>((answer, fail) => {
      requests.push({ items, signal, answer, fail });
      signal?.addEventListener("abort", () => fail(new Error("request aborted")));
      if (at_once) answer();
    });
    return items.map((item) => item.toUpperCase());
  }, most);
  return {
    requests,
    items: () => requests.map(({ items }) => items),
    call: (item: Text, { signal, pool = "a" }: { signal?: AbortSignal | undefined; pool?: string } = {}) =>
      coalescer.call(kind, pool, item, signal),
  };
}

// What sends several calls is loaded with the first of them.
beforeAll(async () => {
  const both = fake();
  await times(2, (i) => both.call(String(i)));
});

const steps = async (count: number) => {
  for (let i = 0; i < count; i++) await Promise.resolve();
};

describe("calls of one turn", () => {
  test("share a request, also if some are made many microtasks later, and each gets its own answer", async () => {
    const { call, items } = fake();
    const later = [steps(3).then(() => call("b")), steps(100).then(() => call("c"))];
    expect(await Promise.all([call("a"), ...later])).toEqual(["A", "B", "C"]);
    expect(items()).toEqual([["a", "b", "c"]]);
  });

  test("need no timer: a single one is sent within its turn", async () => {
    vi.useFakeTimers();
    const { call, items } = fake();
    expect(await call("a")).toBe("A");
    expect(items()).toEqual([["a"]]);
    vi.useRealTimers();
  });

  test("do not share a request with those of the next turn", async () => {
    const { call, items, requests } = fake("turn", { at_once: false });
    const first = call("a");
    await macrotask();
    const second = call("b");
    await macrotask();
    expect(items()).toEqual([["a"], ["b"]]);
    for (const request of requests) request.answer();
    expect(await Promise.all([first, second])).toEqual(["A", "B"]);
  });

  test("wait for each other's preparation, such as encryption; those of later turns do not", async () => {
    const { call, items } = fake();
    const slow = deferred();
    const first = [call("a"), call(slow.promise)];
    await macrotask();
    expect(items()).toEqual([]);
    expect(await call("later")).toBe("LATER");
    slow.resolve("b");
    expect(await Promise.all(first)).toEqual(["A", "B"]);
    expect(items()).toEqual([["later"], ["a", "b"]]);
  });

  test("are separate by pool and by instance", async () => {
    const at = transport();
    const [one, other] = [fake("turn", { at }), fake("turn", { at })];
    await Promise.all([one.call("a"), one.call("b", { pool: "b" }), other.call("c")]);
    expect([...one.items(), ...other.items()]).toEqual([["a"], ["b"], ["c"]]);
  });

  test("are split by number and by bytes; a larger one is sent alone", async () => {
    const { call, items } = fake("turn", { most: 3 });
    await Promise.all(["a", "b", "c", "d"].map((item) => call(item)));
    const half = "x".repeat(4_000_000);
    await Promise.all([half, half, "y", `${half}${half}x`, "z"].map((item) => call(item)));
    const lengths = items().map((request) => request.map(({ length }) => length));
    expect(lengths).toEqual([[1, 1, 1], [1], [4_000_000, 4_000_000], [1], [8_000_001], [1]]);
  });

  test("may be any number", async () => {
    const { call, items } = fake("turn", { most: 1_000 });
    await Promise.all(Array.from({ length: 150_000 }, (_, i) => call(String(i))));
    expect(items().length).toBe(150);
  });

  test("all fail if the request fails, and one without an answer reports it", async () => {
    const { call, requests } = fake("turn", { at_once: false });
    const both = Promise.allSettled([call("a"), call("b")]);
    await macrotask();
    requests[0]?.fail(new Error("lost"));
    expect(await both).toMatchObject([{ reason: { message: "lost" } }, { reason: { message: "lost" } }]);

    const coalescer = new Coalescer("turn", transport());
    const half = kindOf(async () => ["A"]);
    const ends = ["a", "b"].map((item) => coalescer.call(half, "a", item, undefined));
    expect(await Promise.allSettled(ends)).toMatchObject([
      { value: "A" },
      { reason: { code: "unexpected_reply" } },
    ]);
  });
});

describe("an abort", () => {
  test("before sending removes the call from its group at once", async () => {
    const { call, items } = fake();
    const [controller, slow] = [new AbortController(), deferred()];
    const leaving = call("a", { signal: controller.signal });
    const staying = [call(slow.promise), call("c")];
    controller.abort();
    await expect(leaving).rejects.toMatchObject({ code: "aborted" });
    slow.resolve("b");
    expect(await Promise.all(staying)).toEqual(["B", "C"]);
    expect(items()).toEqual([["b", "c"]]);
  });

  test("of all calls aborts the request; a call without a signal keeps it", async () => {
    const { call, requests } = fake("turn", { at_once: false });
    const controllers = [new AbortController(), new AbortController()];
    const both = controllers.map(({ signal }, i) => call(String(i), { signal }));
    const kept = [call("a", { signal: controllers[0]?.signal, pool: "b" }), call("b", { pool: "b" })];
    const ends = Promise.allSettled([...both, kept[0]]);
    await macrotask();
    controllers[0]?.abort();
    expect(requests[0]?.signal?.aborted).toBe(false);
    controllers[1]?.abort();
    expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(requests.map(({ signal }) => signal?.aborted)).toEqual([true, undefined]);
    requests[1]?.answer();
    expect(await kept[1]).toBe("B");
  });

  test("leaves no listener behind on a signal that outlives the call", async () => {
    const { call } = fake();
    const { signal } = new AbortController();
    const [add, remove] = [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")];
    await Promise.all([call("a", { signal }), call("b", { signal })]);
    // The fake request adds its own listener.
    expect(remove.mock.calls.length).toBe(2);
    expect(add.mock.calls.length).toBe(2);
  });
});

describe('"in-flight"', () => {
  // A call waits for at most 250 ms, which a busy machine may need for a turn.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  test("collects calls while a request is in flight, and sends them as one", async () => {
    const { call, items, requests } = fake("in-flight", { at_once: false });
    const first = call("a");
    await macrotask();
    const others = [call("b")];
    await macrotask();
    others.push(call("c"));
    await macrotask();
    expect(items()).toEqual([["a"]]);
    requests[0]?.answer();
    expect(await first).toBe("A");
    await macrotask();
    expect(items()).toEqual([["a"], ["b", "c"]]);
    requests[1]?.answer();
    expect(await Promise.all(others)).toEqual(["B", "C"]);
  });

  test("includes the next calls of callers that were just answered", async () => {
    const { call, items, requests } = fake("in-flight", { at_once: false });
    const again = Array.from({ length: 3 }, async (_, i) => {
      const answer = await call(`a${i}`);
      // A caller's work with its answer, such as reading a task, takes some microtasks.
      await steps(50);
      return call(`${answer}b`);
    });
    await macrotask();
    void call("other");
    await macrotask();
    requests[0]?.answer();
    await macrotask();
    expect(items()).toEqual([
      ["a0", "a1", "a2"],
      ["other", "A0b", "A1b", "A2b"],
    ]);
    requests[1]?.answer();
    await Promise.all(again);
  });

  test("is shared by all instances with the same transport, and by no others", async () => {
    const at = transport();
    const [one, other] = [fake("in-flight", { at }), fake("in-flight", { at })];
    const third = fake("in-flight");
    await Promise.all([one.call("a"), other.call("b"), third.call("c")]);
    expect([one.items(), other.items(), third.items()]).toEqual([[["a", "b"]], [], [["c"]]]);
  });

  test("a request that stalls delays others by a quarter of a second", async () => {
    const { call, items, requests } = fake("in-flight", { at_once: false });
    const both = [call("a")];
    await macrotask();
    both.push(call("b"));
    await vi.advanceTimersByTimeAsync(250 - 1);
    expect(items()).toEqual([["a"]]);
    await vi.advanceTimersByTimeAsync(1);
    expect(items()).toEqual([["a"], ["b"]]);
    for (const request of requests) request.answer();
    expect(await Promise.all(both)).toEqual(["A", "B"]);
  });
});

test("`false` sends each call alone", async () => {
  const { call, items } = fake(false);
  expect(await Promise.all([call("a"), call("b")])).toEqual(["A", "B"]);
  expect(items()).toEqual([["a"], ["b"]]);
});

test.each(["request", true, null])("%j is refused as a mode", (mode) => {
  expect(() => new Coalescer(mode as never, transport())).toThrow(
    expect.objectContaining({ code: "invalid_argument", path: "coalesce" }) as Error,
  );
});
