import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { markLengthEnforced, readBounded } from "../../src/bounded-body.ts";
import { createApp } from "../../src/http/app.ts";
import { callables } from "./access-rows.ts";
import { asker, expectProblem, serve, tokens } from "./served.ts";

// How much of a body is read, and for how long.

let served: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

/** A body that arrives piece by piece. Counts the pieces that were read, and notes if it was cancelled. */
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
/** Used heap, in bytes, after garbage collection. */
const memoryHeld = () => {
  setFlagsFromString("--expose_gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
};
const never = () => new Promise<Uint8Array>(() => {});
const within = 60_000;

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

  it("reads nothing if its Content-Length is too long", async () => {
    const { body, reported } = coming(() => new Uint8Array(10));
    const asked = request(body, { "content-length": "1001" });
    expect(await readBounded(asked, { limit: 1_000, within })).toBe("too_large");
    expect(reported.bytes).toBe(0);
  });

  it.each(["0", "10", "-1", "1e1", "ten", "", "0x10", "10, 10"])(
    "reads no more than the limit and one piece, whatever its Content-Length: %j",
    async (length) => {
      const { body, reported } = coming(() => new Uint8Array(100));
      const headers = { "content-length": length };
      expect(await readBounded(request(body, headers), { limit: 1_000, within })).toBe("too_large");
      expect(reported).toEqual({ bytes: 1_100, let: true });
    },
  );

  it("ends at the time limit though bytes go on coming", async () => {
    const { body, reported } = coming(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return new Uint8Array(1);
    });
    expect(await readBounded(request(body), { limit: 1_000_000, within: 50 })).toBe("too_slow");
    const { bytes } = reported;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reported.bytes - bytes).toBeLessThanOrEqual(1);
  });

  const stuck = () => never().then(() => {});
  const large = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(600));
  const breaks = (controller: ReadableStreamDefaultController) =>
    controller.error(new TypeError("terminated"));

  it.each<[string, UnderlyingDefaultSource, Awaited<ReturnType<typeof readBounded>>]>([
    ["at the time limit if nothing comes", { pull: stuck }, "too_slow"],
    ["at the time limit if cancelling never returns", { pull: stuck, cancel: stuck }, "too_slow"],
    ["at the size limit if cancelling never returns", { pull: large, cancel: stuck }, "too_large"],
    [
      "at the size limit if cancelling fails",
      { pull: large, cancel: () => Promise.reject(new Error()) },
      "too_large",
    ],
    ["when the body breaks off", { pull: breaks }, "broken"],
  ])("ends %s", async (_, source, expected) => {
    const body = new ReadableStream<Uint8Array>(source);
    expect(await readBounded(request(body), { limit: 1_000, within: 30 })).toBe(expected);
  });
});

describe("a body whose length its server enforces", () => {
  const enforced = (body: BodyInit, length: number | string) => {
    const asked = request(body, { "content-length": String(length) });
    markLengthEnforced(asked);
    return asked;
  };

  it.each([0, 1, 1_000, 65_536, 65_537, 200_000])("is read as exactly its %i bytes", async (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, at) => at % 251);
    expect(await readBounded(enforced(bytes, size), { limit: 200_000, within })).toEqual(bytes);
  });

  it("is not read if it is longer than the limit, however short the limit is", async () => {
    const { body, reported } = coming(() => new Uint8Array(10));
    expect(await readBounded(enforced(body, 11), { limit: 10, within })).toBe("too_large");
    expect(reported.bytes).toBe(0);
  });

  it("ends at the time limit, and when it breaks off", async () => {
    const { body } = coming((so) => (so < 3 ? new Uint8Array(1) : never()));
    expect(await readBounded(enforced(body, 10), { limit: 1_000, within: 30 })).toBe("too_slow");
    const broken = new ReadableStream({ pull: (controller) => controller.error(new TypeError("gone")) });
    expect(await readBounded(enforced(broken, 10), { limit: 1_000, within })).toBe("broken");
  });

  it.each(["none", "ten", "1e6", String(70_000)])(
    "is read to the limit and no further if it is long or has no valid length: %s",
    async (length) => {
      const { body, reported } = coming(() => new Uint8Array(100));
      const asked = request(body, length === "none" ? {} : { "content-length": length });
      markLengthEnforced(asked);
      expect(await readBounded(asked, { limit: 2_000_000, within })).toBe("too_large");
      expect(reported.bytes).toBeLessThanOrEqual(2_000_100);
    },
  );
});

it.each(callables.filter(({ method, scopes }) => scopes.length > 0 && !["GET", "DELETE"].includes(method)))(
  "$route refuses a body that is too long or too slow, and reports a hundred faults at most",
  async ({ method, path }) => {
    const { transport } = served;
    const ask = (limits: object, raw: BodyInit) => {
      const app = createApp({ transport, tokens, limits });
      return asker((request) => app.fetch(request))(method, path("bodies"), { raw });
    };
    expectProblem(await ask({ body: 1_000 }, `"${"x".repeat(999)}"`), "payload_too_large");
    const endless = coming(() => new Uint8Array(100)).body;
    expectProblem(await ask({ body: 1_000 }, endless), "payload_too_large");
    expectProblem(await ask({ bodyTime: 20 }, coming(never).body), "body_too_slow");
    const fields = Array.from({ length: 1_000 }, (_, at) => `"f${at}":1`);
    const { errors } = expectProblem(await ask({}, `{${fields.join(",")}}`), "invalid_request");
    expect(errors.length).toBeLessThanOrEqual(100);
  },
);
