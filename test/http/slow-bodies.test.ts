import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { signedHeaders, signingKey } from "../../src/consumer/wake/signature.ts";
import { createApp } from "../../src/http/app.ts";
import { type DrainReport, wakeReceiver } from "../../src/index.ts";
import { asker, expectProblem, tokens } from "./served.ts";

// Bodies that do not end, with the default time limit, by a clock that the test moves.

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Sends the first byte, and no other. */
const stalling = () =>
  new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([0x7b])) });

/** Whether an answer is there just before and just after so many ms. */
async function around(ms: number, answer: Promise<unknown>) {
  let answered = false;
  void answer.then(() => (answered = true));
  // The credentials are checked first.
  while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
  await vi.advanceTimersByTimeAsync(ms - 1);
  const before = answered;
  await vi.advanceTimersByTimeAsync(1);
  await answer;
  return before;
}

const refusing = { send: () => Promise.reject(new Error("Redis must not be asked")) };

test("a body has 30 seconds to arrive, and its timer ends with it", async () => {
  const app = createApp({ transport: refusing, tokens });
  const ask = asker((request) => app.fetch(request));
  const answer = ask("POST", "/v1/queues/q/tasks", { raw: stalling() });
  expect(await around(30_000, answer)).toBe(false);
  expect(expectProblem(await answer, "body_too_slow").detail).toBe("The body must arrive within 30 seconds.");
  await ask("POST", "/v1/queues/q/tasks", { raw: "{" });
  expect(vi.getTimerCount()).toBe(0);
});

test.each([0, -1, 3_600_001, "soon", Number.NaN, {}])(
  "a time limit outside 1 ms to an hour is refused: %j",
  (bodyTime) => {
    const make = () => createApp({ transport: refusing, tokens, limits: { bodyTime: bodyTime as number } });
    expect(make).toThrow(expect.objectContaining({ code: "invalid_argument", path: "limits.bodyTime" }));
  },
);

test("a wake has ten seconds; one that breaks off or is too long is refused at once; none of them drains", async () => {
  const drain = vi.fn(async () => ({}) as DrainReport);
  const secret = `whsec_${btoa("a secret of at least 24 bytes")}`;
  const receive = wakeReceiver({ secret, drain });
  const headers = await signedHeaders(await signingKey(secret), "wake_1", "{");
  const wake = (body: BodyInit, more = {}) =>
    receive(
      new Request("https://consumer.test/wake", {
        method: "POST",
        headers: { ...headers, ...more },
        body,
        duplex: "half",
      } as RequestInit),
    );
  const slow = wake(stalling());
  expect(await around(10_000, slow)).toBe(false);
  expect((await slow).status).toBe(408);
  const broken = new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) });
  expect((await wake(broken)).status).toBe(400);
  expect((await wake("{}", { "content-length": "10001" })).status).toBe(413);
  expect((await wake("x".repeat(10_001))).status).toBe(413);
  expect(drain).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
