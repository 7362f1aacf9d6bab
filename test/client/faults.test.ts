import { describe, expect, test } from "vitest";
import { drain, RequestBudget } from "../../src/index.ts";
import { inOwnTime, TRY } from "../support/own-time.ts";
import { ComparableAnswers } from "./comparable-answers.ts";
import { day } from "./day.ts";
import { failure, payload, problemOf } from "./failure.ts";
import { PATIENT, useServer, type Fault } from "./rig.ts";

const server = useServer();

/** The final state in Redis, read directly. */
async function finalState(): Promise<unknown[]> {
  const queue = server.direct("emails");
  const ids = ["a", "b", "c", "d", "e", "f", "u", "left", "left-too"];
  return [...(await Promise.all(ids.map((id) => queue.get(id)))), await queue.counts()];
}

/** The day, with a fault at the first copy of each request. */
async function run(fault?: Fault) {
  await server.redis("FLUSHALL");
  const way = server.way();
  way.clear();
  way.faults = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? fault : undefined));
  const comparable = new ComparableAnswers();
  const queue = server.client({ retry: PATIENT }).queue("emails");
  const answers = comparable.of(await server.inOwnTime(() => day(queue)));
  await way.runLate();
  return { answers, finalState: comparable.of(await finalState()), copies: [...way.copies] };
}

const html = { body: "<html>no JSON</html>", headers: { "content-type": "text/html" } };

const faults: Fault[] = ["lost reply", "reset", { late: 1 }, { late: 3 }, "silence"];
test.each(faults.map((fault) => [JSON.stringify(fault), fault] as const))(
  "with a fault at every request each call has one effect and its right answer: %s",
  async (_, fault) => {
    const { copies, ...expected } = await run();
    const { copies: sent, ...actual } = await run(fault);
    expect(actual).toEqual(expected);
    expect(sent.length).toBe(2 * copies.length);
    // The second copy is the same as the first.
    const isSecond = (_copy: unknown, i: number) => i % 2 === 1;
    expect(sent.filter(isSecond)).toEqual(sent.filter((copy, i) => !isSecond(copy, i)));
  },
);

const PAST = new Date(0).toUTCString();

describe("a temporary failure is sent again, as often as needed", () => {
  test.each<[string, Fault]>([
    ["a connection that ends", "reset"],
    ["a lost reply", "lost reply"],
    ["a reply that ends in the middle", "cut body"],
    ["half of the JSON", "half JSON"],
    ["no answer", "hang"],
    ["a 500", { status: 500 }],
    ["a 502 of a proxy", { status: 502, ...html }],
    ["a 503 with any body that is no problem", { status: 503, body: '{"code":"queue_full"}' }],
    ["a 504", { status: 504 }],
    ["a 408 of a proxy", { status: 408, ...html }],
    ["a 429 of a proxy", { status: 429, headers: { "retry-after": "0" } }],
    ["a 429 until an instant in the past", { status: 429, headers: { "retry-after": PAST } }],
    ["a 200 without JSON", { status: 200, ...html }],
    ["a 200 with nothing", { status: 200 }],
    ["a 200 with JSON that is no object", { status: 200, body: "1" }],
  ])("%s", async (_, fault) => {
    const way = server.way();
    way.faults = [fault, fault, fault];
    const queue = server.client({ retry: PATIENT }).queue("emails");
    const added = await server.inOwnTime(() => queue.enqueue("x", { id: "a" }));
    expect(added).toEqual({ id: "a", created: true });
    expect(way.copies.length).toBe(4);
    expect((await queue.counts()).pending).toBe(1);
  });
});

describe("at the deadline the error says what the last answer was", () => {
  const never = (fault: Fault) => Array.from({ length: 100 }, () => fault);

  test.each<[string, Fault[], string]>([
    ["a 502", never({ status: 502 }), "HTTP 502"],
    ["a temporary problem", never(problemOf("redis_unreachable", 504)), "HTTP 504 (redis_unreachable)"],
    ["connections that end", never("reset"), "a network error (UND_ERR_SOCKET)"],
    ["bodies that are cut", never("half JSON"), "a body that is cut off or not JSON"],
    ["no answers", never("hang"), `no answer within ${TRY} ms`],
    [
      "no answer in full time after another",
      [{ status: 502 }, ...never("hang")],
      `no answer within ${TRY} ms`,
    ],
  ])("%s", async (_, mishaps, last) => {
    server.way().faults = mishaps;
    const queue = server.client({ retry: { ...PATIENT, deadline: 3 * TRY } }).queue("emails");
    const { code, message } = await failure(() => server.inOwnTime(() => queue.enqueue(payload), TRY / 2));
    expect(code).toBe("unreachable");
    expect(message).toMatch(/^the server gave no useful answer in \d+ tries over \d+ ms; the last time: /);
    expect(message).toContain(last);
  });

  test.each([
    ["seconds", () => "60"],
    ["a date", () => new Date(Date.now() + 60_000).toUTCString()],
  ])("which a Retry-After beyond it, in %s, does not wait for", async (_, retryAfter) => {
    server.way().faults = [{ status: 429, headers: { "retry-after": retryAfter() } }];
    const queue = server.client().queue("emails");
    const refused = await failure(() => server.inOwnTime(() => queue.enqueue(payload)));
    expect(refused).toMatchObject({ code: "unreachable" });
    expect(server.way().copies.length).toBe(1);
  });

  test("a server that is gone", async () => {
    let refused = 0;
    const client = server.client({
      url: "http://127.0.0.1:2",
      retry: { ...PATIENT, deadline: TRY },
      fetch: (url, init) => fetch(url, init).finally(() => refused++),
    });
    const get = () => client.queue("emails").get("a");
    const { code, message } = await failure(() => inOwnTime(get, () => refused * TRY));
    expect(code).toBe("unreachable");
    expect(message).toMatch(/; the last time: a network error \(ECONNREFUSED\)$/);
  });
});

test("every POST has a key of its own, in all its copies; a pull has its token; a GET has neither", async () => {
  const { copies } = await run("lost reply");
  const posts = copies.filter(({ method }) => method === "POST");
  const keys = posts.map(({ headers }) => headers.get("idempotency-key"));
  expect(keys).not.toContain(null);
  expect(new Set(keys).size).toBe(keys.length / 2);
  const pulls = copies.filter(({ path }) => path.endsWith("/pull"));
  const tokens = pulls.map(({ body }) => (JSON.parse(body) as { token: string }).token);
  expect(tokens.every((token) => /^[A-Za-z0-9]{16}$/.test(token))).toBe(true);
  expect(new Set(tokens).size).toBe(tokens.length / 2);
  const gets = copies.filter(({ method }) => method === "GET");
  expect(gets.map(({ headers }) => headers.get("idempotency-key"))).toEqual(gets.map(() => null));
});

test("a drain counts each copy of its requests", async () => {
  await server.redis("FLUSHALL");
  const way = server.way();
  const queue = server.client({ url: way.url }).queue("emails");
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  way.clear();
  way.faults = ["lost reply", undefined, "lost reply"];
  const requests = new RequestBudget(20);
  const report = await drain(queue, () => undefined, { requests, requestsPerTask: 0 });
  expect([report.completed, way.copies.length, requests.left]).toEqual([2, 5, 15]);
});
