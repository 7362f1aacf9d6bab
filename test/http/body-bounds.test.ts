import { afterEach, describe, expect, it, vi } from "vitest";
import { markLengthEnforced, readBounded } from "../../src/bounded-body.ts";
import { signedHeaders, signingKey } from "../../src/signature.ts";
import { type DrainReport, wakeReceiver } from "../../src/index.ts";
import { memoryHeld } from "../support/garbage.ts";
import { callables } from "./access-rows.ts";
import { expectProblem, useServed } from "./served.ts";

// How much of a body is read, and for how long, by a clock that the test moves.

const served = useServed();
afterEach(() => void vi.useRealTimers());
const stopClock = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

/** A body that arrives piece by piece. Counts the bytes that were read, and notes if it was cancelled. */
function coming(next: (so: number) => Uint8Array | "end" | Promise<Uint8Array>) {
  const reported = { bytes: 0, let: false };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await next(reported.bytes);
        if (piece === "end") return controller.close();
        reported.bytes += piece.length;
        controller.enqueue(piece);
      },
      cancel() {
        reported.let = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, reported };
}

const request = (body: BodyInit, headers = {}) =>
  new Request("http://sluice.test/", { method: "POST", body, headers, duplex: "half" } as RequestInit);
const never = () => new Promise<Uint8Array>(() => {});
const breaking = () =>
  new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new TypeError("terminated")) });
const within = 60_000;

const turns = async () => {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** Expects that something comes after exactly so many ms, and leaves no timer. */
async function expectAfter(ms: number, coming: Promise<unknown>): Promise<void> {
  let hasCome = false;
  void coming.then(() => (hasCome = true));
  // The credentials are checked first.
  while (vi.getTimerCount() === 0) await turns();
  await vi.advanceTimersByTimeAsync(ms - 1);
  await turns();
  expect(hasCome).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await turns();
  expect([hasCome, vi.getTimerCount()]).toEqual([true, 0]);
}

describe("reading a body", () => {
  it("returns all of it, however small the pieces, in memory of its own", async () => {
    // A body sent byte by byte would otherwise be kept in 10 million objects: each piece has the same memory
    // here.
    const shared = new Uint8Array(1);
    const { body } = coming((so) => {
      if (so === 100_000) return "end";
      shared[0] = so % 251;
      return shared;
    });
    const read = await readBounded(request(body), { limit: 100_000, within });
    expect(read).toEqual(Uint8Array.from({ length: 100_000 }, (_, at) => at % 251));
  });

  it("keeps nothing of a piece except its bytes", async () => {
    // 10 million pieces would hold gigabytes otherwise.
    const piece = new Uint8Array(1);
    let before = 0;
    let held = 0;
    const { body } = coming((so) => {
      if (so === 1_000) before = memoryHeld();
      if (so < 100_000) return piece;
      held = memoryHeld() - before;
      return "end";
    });
    expect(await readBounded(request(body), { limit: 100_000, within })).toHaveLength(100_000);
    // With a single promise for each piece it would be 8 MB.
    expect(held).toBeLessThan(4_000_000);
  });

  it.each([0, 1, 999, 1_000])("returns exactly its %i bytes of the 1,000 that are allowed", async (size) => {
    const bytes = new Uint8Array(size).fill(7);
    expect(await readBounded(request(bytes), { limit: 1_000, within })).toEqual(bytes);
  });

  it.each(["0", "10", "-1", "1e1", "ten", "", "0x10", "10, 10", "1001"])(
    "reads no more than the limit and one piece, whatever its Content-Length, and nothing if that is too long: %j",
    async (length) => {
      const { body, reported } = coming(() => new Uint8Array(100));
      const headers = { "content-length": length };
      expect(await readBounded(request(body, headers), { limit: 1_000, within })).toBe("too_large");
      expect(reported).toEqual(length === "1001" ? { bytes: 0, let: false } : { bytes: 1_100, let: true });
    },
  );

  it("ends at the time limit though bytes go on coming", async () => {
    stopClock();
    const { body, reported } = coming(async () => {
      await vi.advanceTimersByTimeAsync(1);
      return new Uint8Array(1);
    });
    expect(await readBounded(request(body), { limit: 1_000_000, within: 50 })).toBe("too_slow");
    await turns();
    expect(reported.bytes).toBeLessThanOrEqual(51);
  });

  const stuck = () => never().then(() => {});
  it.each<[string, UnderlyingDefaultSource]>([
    ["if nothing comes", { pull: stuck }],
    ["if cancelling never returns", { pull: stuck, cancel: stuck }],
  ])("ends at the time limit %s", async (_, source) => {
    stopClock();
    const reading = readBounded(request(new ReadableStream(source)), { limit: 1_000, within });
    await expectAfter(within, reading);
    expect(await reading).toBe("too_slow");
  });

  const large = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(600));
  const failing = () => Promise.reject(new Error());
  it.each<[string, ReadableStream, Awaited<ReturnType<typeof readBounded>>]>([
    [
      "at the size limit if cancelling never returns",
      new ReadableStream({ pull: large, cancel: stuck }),
      "too_large",
    ],
    [
      "at the size limit if cancelling fails",
      new ReadableStream({ pull: large, cancel: failing }),
      "too_large",
    ],
    ["when the body breaks off", breaking(), "broken"],
  ])("ends %s", async (_, body, expected) => {
    expect(await readBounded(request(body), { limit: 1_000, within })).toBe(expected);
  });
});

describe("a body whose length its server enforces", () => {
  const enforced = (body: BodyInit, length?: number | string) => {
    const asked = request(body, length === undefined ? {} : { "content-length": String(length) });
    markLengthEnforced(asked);
    return asked;
  };

  it.each([0, 1, 1_000, 65_536, 65_537, 200_000])("is read as exactly its %i bytes", async (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, at) => at % 251);
    expect(await readBounded(enforced(bytes, size), { limit: 200_000, within })).toEqual(bytes);
  });

  it("ends at the time limit, and when it breaks off", async () => {
    expect(await readBounded(enforced(breaking(), 10), { limit: 1_000, within })).toBe("broken");
    stopClock();
    const { body } = coming((so) => (so < 3 ? new Uint8Array(1) : never()));
    const reading = readBounded(enforced(body, 10), { limit: 1_000, within });
    await expectAfter(within, reading);
    expect(await reading).toBe("too_slow");
  });

  it.each([
    [undefined, 2_000_000, 2_000_100],
    ["ten", 2_000_000, 2_000_100],
    ["1e6", 2_000_000, 2_000_100],
    ["70000", 2_000_000, 2_000_100],
    // However short the limit is.
    ["11", 10, 0],
  ])("is read to the limit and no further: length %s, limit %i", async (length, limit, most) => {
    const { body, reported } = coming(() => new Uint8Array(100));
    expect(await readBounded(enforced(body, length), { limit, within })).toBe("too_large");
    expect(reported.bytes).toBeLessThanOrEqual(most);
  });
});

it.each(callables.filter(({ method, scopes }) => scopes.length > 0 && !["GET", "DELETE"].includes(method)))(
  "$route refuses a body that is too long or too slow, and reports a hundred faults at most",
  async ({ method, path }) => {
    const ask = (limits: object, raw: BodyInit) => served.asking({ limits })(method, path("bodies"), { raw });
    expectProblem(await ask({ body: 1_000 }, `"${"x".repeat(999)}"`), "payload_too_large");
    const endless = coming(() => new Uint8Array(100)).body;
    expectProblem(await ask({ body: 1_000 }, endless), "payload_too_large");
    expectProblem(await ask({ bodyTime: 20 }, coming(never).body), "body_too_slow");
    const fields = Array.from({ length: 1_000 }, (_, at) => `"f${at}":1`);
    const { errors } = expectProblem(await ask({}, `{${fields.join(",")}}`), "invalid_request");
    expect(errors.length).toBeLessThanOrEqual(100);
  },
);

/** Sends the first byte, and no other. */
const stalling = () => new ReadableStream({ start: (controller) => controller.enqueue(Uint8Array.of(0x7b)) });

it("a body has 30 seconds to arrive, and its timer ends with it", async () => {
  stopClock();
  const send = () => Promise.reject(new Error("Redis must not be asked"));
  const answer = served.asking({ transport: { send } })("POST", "/v1/queues/q/tasks", { raw: stalling() });
  await expectAfter(30_000, answer);
  expect(expectProblem(await answer, "body_too_slow").detail).toBe("The body must arrive within 30 seconds.");
});

it.each([0, -1, 3_600_001, "soon", Number.NaN, {}])(
  "a time limit outside 1 ms to an hour is refused: %j",
  (bodyTime) => {
    const make = () => served.make({ limits: { bodyTime: bodyTime as number } });
    expect(make).toThrow(expect.objectContaining({ code: "invalid_argument", path: "limits.bodyTime" }));
  },
);

it("a wake has ten seconds; one that breaks off or is too long is refused at once; none of them drains", async () => {
  stopClock();
  const drain = vi.fn(async () => ({}) as DrainReport);
  const secret = `whsec_${btoa("a secret of at least 24 bytes")}`;
  const receive = wakeReceiver({ secret, drain });
  const signed = await signedHeaders(await signingKey(secret), "wake_1", "{");
  const wake = (body: BodyInit, more = {}) => receive(request(body, { ...signed, ...more }));
  const slow = wake(stalling());
  await expectAfter(10_000, slow);
  expect((await slow).status).toBe(408);
  const refused = [wake(breaking()), wake("{}", { "content-length": "10001" }), wake("x".repeat(10_001))];
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([400, 413, 413]);
  expect(drain).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
