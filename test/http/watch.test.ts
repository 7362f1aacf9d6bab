import { beforeEach, describe, expect, it } from "vitest";
import { SluiceError } from "../../src/index.ts";
import type { LoggedError } from "../../src/http/problems/logged-error.ts";
import type { Transport } from "../../src/kernel/transport.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { openEvents } from "./event-frames.ts";
import { asker, type Ask, expectProblem, secrets, useServed } from "./served.ts";

const served = useServed();
let ask: Ask;
let fetch: (path: string, init?: RequestInit) => Promise<Response>;
let tasks: string;
let looks = 0;
let away = false;
let faults: LoggedError[] = [];
let count = 0;
const time = useSimulatedTime();

beforeEach(() => {
  const { send } = time.through(served.transport);
  const transport: Transport = {
    send: (...args) => {
      looks++;
      return away ? Promise.reject(new SluiceError("redis_unreachable", "secret")) : send(...args);
    },
  };
  const app = served.make({ transport, onError: (fault) => faults.push(fault) });
  ask = asker((request) => app.fetch(request));
  fetch = async (path, init) => app.fetch(new Request(`http://sluice.test${path}`, init));
  tasks = `/v1/queues/q${count++}/tasks`;
  away = false;
  faults = [];
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const enqueue = (json: object = {}) => ask("POST", tasks, { json: { payload: 1, id: "a", ...json } });
const pull = async (): Promise<string> => (await ask("POST", `${tasks}/pull`)).body.tasks[0].receipt;
const settle = (receipt: string, outcome: string, more: object = {}) =>
  ask("POST", `${tasks}/settle`, { json: { settlements: [{ receipt, outcome, ...more }] } });
const remove = () => time.during(served.transport.send([["DEL", `sluice:{q${count - 1}}:tasks`]]));
const task = async () => (await ask("GET", `${tasks}/a`)).body;
const expectNoPolls = async () => {
  const after = looks;
  await pause(60_000);
  expect([looks - after <= 1, faults]).toEqual([true, []]);
};
const open = (query = "", headers: Record<string, string> = {}) =>
  openEvents(fetch, `${tasks}/a${query}`, headers);

describe("GET with ?wait", () => {
  it("answers when the task has ended, and at once if it had", async () => {
    await enqueue();
    const waiting = ask("GET", `${tasks}/a?wait=60s`, { as: "enqueue" });
    await pause(10_000);
    await settle(await pull(), "complete", { result: "done" });
    const { body } = await waiting;
    expect(body).toMatchObject({ state: "completed", result: "done" });
    expect((await ask("GET", `${tasks}/a?wait=60s`)).body).toEqual(body);
  });

  it("answers with the task as it is when the time is over, given as a text or in ms", async () => {
    await enqueue();
    const begin = time.now;
    for (const wait of ["0", "30", "300ms", "1m"]) {
      const { status, body } = await ask("GET", `${tasks}/a?wait=${wait}`);
      expect([status, body]).toEqual([200, await task()]);
    }
    expect(time.now - begin).toBe(60_330);
  });

  it("answers 404 at once for an unknown task, and when the task is removed while it waits", async () => {
    expectProblem(await ask("GET", `${tasks}/none?wait=60s`), "not_found");
    await enqueue();
    const waiting = ask("GET", `${tasks}/a?wait=60s`);
    await pause(1_000);
    await remove();
    expectProblem(await waiting, "not_found");
  });
});

describe("GET with Accept: text/event-stream", () => {
  const headers = { accept: "text/event-stream" };

  it("reports the whole life of a task, and ends with it; shows no payload", async () => {
    await enqueue({ payload: "secret" });
    const stream = await open("?payload=true");
    expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(stream.headers.get("cache-control")).toBe("no-store, no-transform");
    const reported = [await stream.next()];
    const first = await pull();
    reported.push(await stream.next());
    await settle(first, "extend", { progress: { done: 0.5 } });
    reported.push(await stream.next());
    await settle(first, "requeue");
    const second = await pull();
    reported.push(...(await stream.take(2)));
    await ask("POST", `${tasks}/a/cancel`);
    await settle(second, "complete", { result: "AAH/", encoding: "base64" });
    reported.push(...(await stream.rest()));
    const step = (version: number, to: string) => ({
      event: "transition",
      id: String(version),
      data: { version, to, at: expect.any(Number) },
    });
    const end = { version: 6, to: "completed", at: expect.any(Number), task: await task() };
    expect(reported).toEqual([
      step(1, "pending"),
      step(2, "working"),
      { event: "progress", id: "2", data: { version: 2, progress: { done: 0.5 } } },
      step(3, "pending"),
      step(4, "working"),
      step(5, "cancelRequested"),
      { event: "end", id: "6", data: end },
    ]);
    expect(end.task).toMatchObject({ result: "AAH/", encoding: "base64" });
    expect(JSON.stringify(reported)).not.toContain("secret");
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
    const ids = Array.from({ length: 16 }, (_, i) => String(i + 6));
    expect(reported.slice(1).map(({ id }) => id)).toEqual(ids);
    expect(reported.at(-1)?.event).toBe("end");
    expect(await after("5")).toEqual(reported.slice(1));
    expect(await after("20")).toEqual(reported.slice(-1));
  });

  it("answers 204 after the last event, so that a browser does not reconnect; ignores an id that it has not sent; 404 for an unknown task", async () => {
    await enqueue();
    await settle(await pull(), "reject", { error: "no" });
    const [end] = await (await open()).rest();
    expect(end).toMatchObject({ event: "end", id: "3", data: { task: { error: "no" } } });
    const again = await open("", { "last-event-id": "3" });
    expect([again.status, await again.rest()]).toEqual([204, []]);
    for (const strange of "|x|-3|3.0|3e0|NaN|0x3|9999999999999999|é|__proto__|3 3".split("|"))
      expect(await (await open("", { "last-event-id": strange })).rest()).toEqual([end]);
    expectProblem(await ask("GET", `${tasks}/none`, { headers }), "not_found");
  });

  it("reports that the task is removed", async () => {
    await enqueue();
    const stream = await open();
    await stream.next();
    await remove();
    expect(await stream.rest()).toEqual([{ event: "gone", id: undefined, data: {} }]);
  });

  it("ends when its time is over; the next stream goes on", async () => {
    await enqueue();
    const begin = time.now;
    expect(await (await open("?wait=400ms")).rest()).toMatchObject([{ id: "1" }]);
    expect(time.now - begin).toBe(400);
    await ask("POST", `${tasks}/a/cancel`);
    const next = await open("?wait=400ms", { "last-event-id": "1" });
    expect(await next.rest()).toMatchObject([{ event: "end", id: "2" }]);
  });

  it("ends with an error event at a fault of Redis, without Redis's words, and reports it", async () => {
    await enqueue();
    const stream = await open();
    await stream.next();
    away = true;
    const [reported, ...others] = await stream.rest();
    const problem = { event: "problem", id: undefined, data: { code: "redis_unreachable", status: 504 } };
    expect([reported, others]).toMatchObject([problem, []]);
    expect(JSON.stringify(reported)).not.toContain("secret");
    expect(faults).toMatchObject([
      { instance: reported?.data.instance, method: "GET", route: "/v1/queues/:queue/tasks/:id" },
    ]);
  });

  it("is chosen by Accept", async () => {
    await enqueue();
    await ask("POST", `${tasks}/a/cancel`);
    for (const [accept, type] of [
      ["text/event-stream", "text/event-stream"],
      ["application/json, Text/Event-Stream;q=0.9", "text/event-stream"],
      ["*/*", "application/json"],
      ["text/event-streams", "application/json"],
      ["application/json", "application/json"],
    ] as const) {
      const answer = await ask("GET", `${tasks}/a`, { headers: { accept } });
      expect([accept, answer.headers.get("content-type")]).toEqual([accept, type]);
    }
  });

  it("is for the scope enqueue, as the task is; answers HEAD without polling", async () => {
    await enqueue();
    expectProblem(await ask("GET", `${tasks}/a`, { as: "consume", headers }), "forbidden");
    const { status, body } = await ask("HEAD", `${tasks}/a`, { headers });
    expect([status, body]).toEqual([200, ""]);
  });
});

it.each([{}, { accept: "text/event-stream" }])(
  "ends, and stops polling, once the client has disconnected: %j",
  async (accept) => {
    await enqueue();
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${secrets.all}`, ...accept };
    const begin = time.now;
    const waiting = fetch(`${tasks}/a?wait=60s`, { headers, signal: leaving.signal });
    const text = waiting.then((response) => response.text());
    await pause(5_000);
    leaving.abort();
    await text;
    expect(time.now - begin).toBeLessThan(10_000);
    await expectNoPolls();
  },
);

it("stops polling once the client has closed its stream", async () => {
  await enqueue();
  const stream = await open();
  await stream.next();
  await pause(5_000);
  await stream.leave();
  await expectNoPolls();
});
