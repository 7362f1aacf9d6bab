import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { SluiceError } from "../../src/index.ts";
import { createApp } from "../../src/http/app.ts";
import type { LoggedError } from "../../src/http/problems/error-log.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { openEvents, type TestFrame } from "./event-frames.ts";
import { asker, type Ask, expectProblem, secrets, serve, tokens } from "./served.ts";

let served: Awaited<ReturnType<typeof serve>>;
let ask: Ask;
let fetch: (path: string, init?: RequestInit) => Promise<Response>;
let tasks: string;
let looks = 0;
let away = false;
let faults: LoggedError[] = [];
let count = 0;

beforeAll(async () => {
  served = await serve();
  const transport: Transport = {
    send: (commands, options) => {
      looks++;
      if (away) return Promise.reject(new SluiceError("redis_unreachable", "secret"));
      return served.transport.send(commands, options);
    },
  };
  const app = createApp({ transport, tokens, onError: (fault) => faults.push(fault) });
  ask = asker((request) => app.fetch(request));
  fetch = async (path, init) => app.fetch(new Request(`http://sluice.test${path}`, init));
});
afterAll(() => served.stop());
beforeEach(() => {
  tasks = `/v1/queues/q${count++}/tasks`;
  looks = 0;
  away = false;
  faults = [];
});

const enqueue = (json: object = {}) => ask("POST", tasks, { json: { payload: 1, id: "a", ...json } });
const pull = async (): Promise<string> => (await ask("POST", `${tasks}/pull`)).body.tasks[0].receipt;
const settle = (receipt: string, outcome: string, more: object = {}) =>
  ask("POST", `${tasks}/settle`, { json: { settlements: [{ receipt, outcome, ...more }] } });
const task = async () => (await ask("GET", `${tasks}/a`)).body;
const open = (query = "", headers: Record<string, string> = {}) =>
  openEvents(fetch, `${tasks}/a${query}`, headers);
const untilLooked = (times: number) => vi.waitUntil(() => looks >= times, { timeout: 20_000, interval: 5 });

/** Resolves when no poll has run for longer than the longest pause. */
async function untilQuiet(): Promise<void> {
  for (let before = -1; before !== looks;) {
    before = looks;
    await new Promise((resolve) => setTimeout(resolve, 2_500));
  }
}

describe("GET with ?wait", () => {
  it("answers when the task has ended", async () => {
    await enqueue();
    const waiting = ask("GET", `${tasks}/a?wait=60s`, { as: "enqueue" });
    await untilLooked(3);
    await settle(await pull(), "complete", { result: "done" });
    const { status, body } = await waiting;
    expect([status, body]).toMatchObject([200, { state: "completed", result: "done" }]);
    expect((await ask("GET", `${tasks}/a?wait=60s`)).body).toEqual(body);
  });

  it("answers with the task as it is when the time is over, given as a text or in ms", async () => {
    await enqueue();
    for (const wait of ["0", "30", "300ms"]) {
      const { status, body } = await ask("GET", `${tasks}/a?wait=${wait}`);
      expect([status, body]).toEqual([200, await task()]);
    }
  });

  it("answers 404 at once for an unknown task, and when the task is removed while it waits", async () => {
    expectProblem(await ask("GET", `${tasks}/none?wait=60s`), "not_found");
    await enqueue();
    const waiting = ask("GET", `${tasks}/a?wait=60s`);
    await untilLooked(3);
    await served.transport.send([["DEL", `sluice:{q${count - 1}}:tasks`]]);
    expectProblem(await waiting, "not_found");
  });

  it.each(["61s", "soon", "-1", "1.5", "", "1s&wait=2s"])("refuses wait=%s", async (wait) => {
    const { errors } = expectProblem(await ask("GET", `${tasks}/a?wait=${wait}`), "invalid_request");
    expect(errors).toMatchObject([{ path: "wait" }]);
  });

  it("stops polling once the client has disconnected, and reports no fault", async () => {
    await enqueue();
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${secrets.all}` };
    const waiting = fetch(`${tasks}/a?wait=60s`, { headers, signal: leaving.signal });
    await untilLooked(3);
    leaving.abort();
    await waiting;
    const after = looks;
    await untilQuiet();
    expect([looks, faults]).toEqual([after, []]);
  });
});

describe("GET with Accept: text/event-stream", () => {
  it("reports the whole life of a task, and ends with it", async () => {
    await enqueue({ delay: 1 });
    const stream = await open();
    expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(stream.headers.get("cache-control")).toBe("no-store");
    const reported: (TestFrame | undefined)[] = [await stream.next()];
    const first = await vi.waitUntil(async () => (await ask("POST", `${tasks}/pull`)).body.tasks[0]?.receipt);
    reported.push(...(await stream.take(1)));
    await settle(first, "extend", { progress: { done: 0.5 } });
    reported.push(...(await stream.take(1)));
    await settle(first, "requeue");
    const second = await pull();
    reported.push(...(await stream.take(2)));
    await ask("POST", `${tasks}/a/cancel`);
    await settle(second, "complete", { result: "AAH/", encoding: "base64" });
    reported.push(...(await stream.rest()));
    const at = expect.any(Number);
    const step = (version: number, to: string) => ({
      event: "transition",
      id: String(version),
      data: { version, to, at },
    });
    expect(reported).toEqual([
      { ...step(1, "delayed"), data: { version: 1, to: expect.stringMatching(/delayed|pending/), at } },
      step(2, "working"),
      { event: "progress", id: "2", data: { version: 2, progress: { done: 0.5 } } },
      step(3, "pending"),
      step(4, "working"),
      step(5, "cancelRequested"),
      { event: "end", id: "6", data: { version: 6, to: "completed", at, task: await task() } },
    ]);
    expect(reported.at(-1)?.data.task).toMatchObject({ result: "AAH/", encoding: "base64" });
  });

  it("goes on after the Last-Event-ID, and reports transitions that the record no longer has as a gap", async () => {
    await enqueue({ maxAttempts: 0 });
    const before = await open();
    expect(await before.next()).toMatchObject({ event: "transition", id: "1" });
    await before.leave();
    for (let i = 0; i < 9; i++) await settle(await pull(), "requeue");
    await settle(await pull(), "complete");
    const after = async (id: string) => (await open("", { "last-event-id": id })).rest();
    const reported = await after("1");
    expect(reported[0]).toEqual({ event: "gap", id: "5", data: { version: 5, missed: 4 } });
    expect(reported.slice(1).map(({ id }) => Number(id))).toEqual(
      Array.from({ length: 16 }, (_, i) => i + 6),
    );
    expect(reported.at(-1)?.event).toBe("end");
    expect(await after("5")).toEqual(reported.slice(1));
    expect(await after("20")).toEqual(reported.slice(-1));
  });

  it("answers 204 after the last event, so that a browser does not reconnect, and 404 for an unknown task", async () => {
    await enqueue();
    await settle(await pull(), "reject", { error: "no" });
    const [end] = await (await open()).rest();
    expect(end).toMatchObject({ event: "end", id: "3", data: { task: { error: "no" } } });
    const again = await open("", { "last-event-id": "3" });
    expect([again.status, await again.rest()]).toEqual([204, []]);
    for (const strange of ["", "x", "-3", "3.0", "9".repeat(16)]) {
      expect(await (await open("", { "last-event-id": strange })).rest()).toEqual([end]);
    }
    const none = await ask("GET", `${tasks}/none`, { headers: { accept: "text/event-stream" } });
    expectProblem(none, "not_found");
  });

  it("reports that the task is removed", async () => {
    await enqueue();
    const stream = await open();
    await stream.next();
    await served.transport.send([["DEL", `sluice:{q${count - 1}}:tasks`]]);
    expect(await stream.rest()).toEqual([{ event: "gone", id: undefined, data: {} }]);
  });

  it("ends when its time is over; the next stream goes on", async () => {
    await enqueue();
    const stream = await open("?wait=400ms");
    expect(await stream.rest()).toMatchObject([{ id: "1" }]);
    await ask("POST", `${tasks}/a/cancel`);
    const next = await open("?wait=400ms", { "last-event-id": "1" });
    expect(await next.rest()).toMatchObject([{ event: "end", id: "2" }]);
    const tooLong = await ask("GET", `${tasks}/a?wait=61s`, { headers: { accept: "text/event-stream" } });
    expectProblem(tooLong, "invalid_request");
  });

  it("stops polling once the client has disconnected", async () => {
    await enqueue();
    const stream = await open();
    await stream.next();
    await untilLooked(4);
    await stream.leave();
    const after = looks;
    await untilQuiet();
    expect(looks - after).toBeLessThanOrEqual(1);
  });

  it("ends with an error event at a fault of Redis, without Redis's words, and reports it", async () => {
    await enqueue();
    const stream = await open();
    await stream.next();
    away = true;
    const [reported, ...others] = await stream.rest();
    expect([reported, others]).toMatchObject([
      { event: "problem", id: undefined, data: { code: "redis_unreachable", status: 504 } },
      [],
    ]);
    expect(JSON.stringify(reported)).not.toContain("secret");
    expect(faults).toMatchObject([
      { instance: reported?.data.instance, method: "GET", route: "/v1/queues/:queue/tasks/:id" },
    ]);
  });

  it.each([
    ["text/event-stream", true],
    ["application/json, Text/Event-Stream;q=0.9", true],
    ["*/*", false],
    ["text/event-streams", false],
    ["application/json", false],
  ])("is chosen by Accept: %s: %s", async (accept, asked) => {
    await enqueue();
    await ask("POST", `${tasks}/a/cancel`);
    const { headers } = await ask("GET", `${tasks}/a`, { headers: { accept } });
    expect(headers.get("content-type")).toBe(asked ? "text/event-stream" : "application/json");
  });

  it("is for the scope enqueue, as the task is", async () => {
    await enqueue();
    const headers = { accept: "text/event-stream" };
    expectProblem(await ask("GET", `${tasks}/a`, { as: "consume", headers }), "forbidden");
    expectProblem(await ask("GET", `${tasks}/a`, { as: null, headers }), "unauthorized");
  });

  it("answers HEAD without polling", async () => {
    await enqueue();
    const { status, body } = await ask("HEAD", `${tasks}/a`, { headers: { accept: "text/event-stream" } });
    expect([status, body]).toEqual([200, ""]);
  });
});
