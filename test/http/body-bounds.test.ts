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
    expect(await readBounded(request(body, { "content-length": "1001" }), { limit: 1_000, within })).toBe(
      "too_large",
    );
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

  it.each([
    ["a byte now and then", (so: number) => (so < 3 ? new Uint8Array(1) : never())],
    ["nothing at all", never],
  ])("ends with the time: %s", async (_, next) => {
    const { body, reported } = coming(next);
    expect(await readBounded(request(body), { limit: 1_000, within: 30 })).toBe("too_slow");
    expect(reported.let).toBe(true);
  });

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

  it("ends at the time limit if cancelling the body never returns", async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: () => never().then(() => {}),
      cancel: () => never().then(() => {}),
    });
    expect(await readBounded(request(body), { limit: 1_000, within: 30 })).toBe("too_slow");
  });

  it("ends at the size limit if cancelling the body never returns", async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(600)),
      cancel: () => never().then(() => {}),
    });
    expect(await readBounded(request(body), { limit: 1_000, within: 30 })).toBe("too_large");
  });

  it("ends at the size limit if cancelling the body fails", async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(600)),
      cancel: () => Promise.reject(new Error("gone")),
    });
    expect(await readBounded(request(body), { limit: 1_000, within: 30 })).toBe("too_large");
  });

  it("ends when the body breaks off", async () => {
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new TypeError("terminated")),
    });
    expect(await readBounded(request(broken), { limit: 1_000, within })).toBe("broken");
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

const withBody = callables.filter(
  ({ method, scopes }) => scopes.length > 0 && !["GET", "DELETE"].includes(method),
);

describe.each(withBody)("$route", ({ method, path }) => {
  const url = path("bodies");
  const post = (raw: BodyInit, headers: Record<string, string> = {}) =>
    served.ask(method, url, { raw, headers });
  const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

  it("refuses a body that is no JSON, too long, too deep or of another type, each with its own code", async () => {
    const app = createApp({ transport: served.transport, tokens, limits: { body: 1_000, bodyTime: 20 } });
    const small = asker((request) => app.fetch(request));
    expectProblem(await small(method, url, { raw: `"${"x".repeat(999)}"` }), "payload_too_large");
    expectProblem(
      await small(method, url, { raw: coming(() => new Uint8Array(100)).body }),
      "payload_too_large",
    );
    expectProblem(await small(method, url, { raw: coming(never).body }), "body_too_slow");

    for (const raw of [
      "{",
      " ",
      "nope",
      '{"a":1}{"b":2}',
      "[1,]",
      "{'a':1}",
      "NaN",
      "\u0000",
      '"\u0001"',
      deep(1_001),
      `{"payload":${deep(1_000)}}`,
      "[".repeat(100_000),
      `{"a":`.repeat(100_000),
      Uint8Array.of(0x7b, 0xff, 0x7d),
      // UTF-16, with and without its mark.
      Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00),
      Uint8Array.of(0x7b, 0x00, 0x7d, 0x00),
    ]) {
      expectProblem(await post(raw), "invalid_json");
    }
    for (const raw of ["null", "[]", "1", '""', "true", "[{}]", deep(1_000)]) {
      expectProblem(await post(raw), "invalid_request");
    }
    for (const type of [
      "text/plain",
      "multipart/form-data; boundary=x",
      "application/xml",
      "application/json, text/html",
    ]) {
      expectProblem(await post("{}", { "content-type": type }), "unsupported_media_type");
    }
    for (const encoding of ["gzip", "br", "deflate, gzip", "x-unknown"]) {
      const answer = await post("{}", { "content-encoding": encoding });
      expectProblem(answer, "unsupported_media_type");
      expect(answer.headers.get("accept-encoding")).toBe("identity");
    }
  });

  it("reports a hundred unknown fields at most", async () => {
    const fields = Array.from({ length: 10_000 }, (_, at) => `"f${at}":1`);
    const { errors } = expectProblem(await post(`{${fields.join(",")}}`), "invalid_request");
    expect(errors.length).toBeLessThanOrEqual(100);
  });
});
