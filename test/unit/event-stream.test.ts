import { Hono } from "hono";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Variables } from "../../src/http/services.ts";
import { eventStream, type EventStream, type Frame } from "../../src/http/responses/event-stream.ts";
import { Problem } from "../../src/http/problems/problem.ts";

// What a client of a stream reads, and when its source is read, on a clock that the tests move.

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** A source that yields the frames fed by the test, until its signal aborts. */
function source() {
  const state = { drawn: 0, ended: false, feed: (_frame: Frame) => {} };
  async function* frames(signal: AbortSignal): AsyncGenerator<Frame> {
    while (!signal.aborted) {
      state.drawn++;
      const frame = await new Promise<Frame | undefined>((resolve) => {
        state.feed = resolve;
        signal.addEventListener("abort", () => resolve(undefined));
      });
      if (frame) yield frame;
    }
    state.ended = true;
  }
  return { state, frames };
}

async function answered(stream: Partial<EventStream>, init?: RequestInit) {
  const reportedProblem = () => new Problem("redis_unreachable", { instance: "urn:uuid:1" });
  const app = new Hono<Variables>().get("/", (c) =>
    eventStream(c, { reportedProblem }, { lasts: 60_000, open: source().frames, ...stream }),
  );
  app.onError((error) => new Response(error.message, { status: 500 }));
  const response = await app.request("/", init);
  const reader = response.body?.getReader();
  const read = async () => {
    const value = (await reader?.read())?.value;
    return value && new TextDecoder().decode(value);
  };
  return { response, reader, read };
}

test("it sends the time to reconnect after, then each event at once", async () => {
  const { state, frames } = source();
  const { response, read, reader } = await answered({ open: frames });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  expect(await read()).toBe("retry: 1000\n\n");
  const first = read();
  await vi.waitUntil(() => state.drawn === 1);
  state.feed({ event: "transition", id: 3, data: { text: "a\nb" } });
  expect(await first).toBe('id: 3\nevent: transition\ndata: {"text":"a\\nb"}\n\n');
  const second = read();
  await vi.waitUntil(() => state.drawn === 2);
  state.feed({ event: "gone", data: {} });
  expect(await second).toBe("event: gone\ndata: {}\n\n");
  await reader?.cancel();
});

test("it sends a comment every 3 seconds", async () => {
  const { frames, state } = source();
  const { read, reader } = await answered({ open: frames });
  await read();
  const reported: (string | undefined)[] = [];
  for (let i = 0; i < 3; i++) {
    const next = read();
    await vi.advanceTimersByTimeAsync(2_999);
    void next.then((text) => reported.push(text));
    expect(reported).toHaveLength(i);
    await vi.advanceTimersByTimeAsync(1);
    expect(await next).toBe(":\n\n");
  }
  expect(state.drawn).toBe(1);
  await reader?.cancel();
});

test("its source is not read before a client reads, nor ahead of the client", async () => {
  const { frames, state } = source();
  const { read, reader } = await answered({ open: frames });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(state.drawn).toBe(0);
  await read();
  const first = read();
  await vi.waitUntil(() => state.drawn === 1);
  state.feed({ event: "a", data: 1 });
  await first;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(state.drawn).toBe(1);
  await reader?.cancel();
});

test("it ends with its source when its time is over", async () => {
  const { frames, state } = source();
  const { read } = await answered({ open: frames, lasts: 2_000 });
  await read();
  const next = read();
  await vi.advanceTimersByTimeAsync(2_000);
  expect([await next, state.ended]).toEqual([undefined, true]);
});

test.each(["the client disconnects", "the request is aborted"])("it ends its source if %s", async (how) => {
  const { frames, state } = source();
  const leaving = new AbortController();
  const { read, reader } = await answered({ open: frames }, { signal: leaving.signal });
  await read();
  const next = read();
  await vi.waitUntil(() => state.drawn === 1);
  if (how === "the request is aborted") leaving.abort();
  else await reader?.cancel();
  expect(await next).toBeUndefined();
  await vi.waitUntil(() => state.ended);
});

test("it reports a fault of its source, and ends", async () => {
  async function* failing(): AsyncGenerator<Frame> {
    yield { event: "a", data: 1 };
    throw new Error("secret");
  }
  const { read } = await answered({ open: failing });
  await read();
  await read();
  const reported = await read();
  expect(reported).toMatch(/^event: problem\ndata: \{.*\}\n\n$/);
  expect(JSON.parse(reported?.split("data: ")[1] ?? "")).toMatchObject({
    code: "redis_unreachable",
    status: 504,
    instance: "urn:uuid:1",
  });
  expect(await read()).toBeUndefined();
});

test("a source that cannot be opened is answered like any other fault", async () => {
  const { response, read } = await answered({ open: () => Promise.reject(new Error("refused")) });
  expect([response.status, await read()]).toEqual([500, "refused"]);
});

test("HEAD opens no source", async () => {
  const open = vi.fn<EventStream["open"]>();
  const { response } = await answered({ open }, { method: "HEAD" });
  expect([response.status, response.headers.get("content-type"), open.mock.calls]).toEqual([
    200,
    "text/event-stream",
    [],
  ]);
});
