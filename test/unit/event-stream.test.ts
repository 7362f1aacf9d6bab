import { Hono } from "hono";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Variables } from "../../src/http/services.ts";
import { eventStream, type EventStream, type Frame } from "../../src/http/responses/event-stream.ts";

// What a client of a stream reads, and when its source is read, on a clock that the tests move. Faults, HEAD and the end
// of its time: test/http/watch.

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

async function answered(open: EventStream["open"], init?: RequestInit) {
  const app = new Hono<Variables>().get("/", (c) =>
    eventStream(c, { reportedProblem: () => expect.unreachable() }, { lasts: 60_000, open }),
  );
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
  const { response, read, reader } = await answered(frames);
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
  const { read, reader } = await answered(frames);
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
  const { read, reader } = await answered(frames);
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

test.each(["the client disconnects", "the request is aborted"])("it ends its source if %s", async (how) => {
  const { frames, state } = source();
  const leaving = new AbortController();
  const { read, reader } = await answered(frames, { signal: leaving.signal });
  await read();
  const next = read();
  await vi.waitUntil(() => state.drawn === 1);
  if (how === "the request is aborted") leaving.abort();
  else await reader?.cancel();
  expect(await next).toBeUndefined();
  await vi.waitUntil(() => state.ended);
});
