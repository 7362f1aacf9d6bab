import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createApp } from "../../src/http/app.ts";
import type { LoggedError } from "../../src/http/problems/error-log.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { openEvents, type TestStream } from "./event-frames.ts";
import { type Ask, asker, expectProblem, serve, tokens } from "./served.ts";

let served: Awaited<ReturnType<typeof serve>>;
let gateway: Gateway;
let faults: LoggedError[] = [];
let streams: TestStream[] = [];
let queue: string;
let count = 0;

beforeAll(async () => {
  served = await serve();
  gateway = await startGateway({ redisUrl: served.redis.url });
});
afterAll(async () => {
  await gateway.close();
  await served.stop();
});
beforeEach(() => {
  queue = `q${count++}`;
  faults = [];
});
afterEach(async () => {
  for (const stream of streams) await stream.leave();
  streams = [];
  await untilListening(0);
});

/** Resolves when that many connections listen to the queue's channel, by Redis's own count. */
async function untilListening(listeners: number): Promise<void> {
  const channel = `sluice:{${queue}}:events`;
  const listening = async () => {
    const [outcome] = await served.transport.send([["PUBSUB", "NUMSUB", channel]]);
    return outcome && "reply" in outcome && Array.isArray(outcome.reply) ? outcome.reply[1] : undefined;
  };
  await vi.waitUntil(async () => (await listening()) === listeners, { timeout: 20_000, interval: 5 });
}

const transports: readonly (readonly [string, () => Transport])[] = [
  ["resp", () => served.transport],
  ["upstash", () => upstash(gateway)],
];

describe.each(transports)("GET /v1/queues/:queue/events over %s", (_, transport) => {
  let app: ReturnType<typeof createApp>;
  let ask: Ask;
  beforeEach(() => {
    app = createApp({ transport: transport(), tokens, onError: (fault) => faults.push(fault) });
    ask = asker((request) => app.fetch(request));
  });

  const tasks = () => `/v1/queues/${queue}/tasks`;
  const configure = (events: boolean) => ask("PATCH", `/v1/queues/${queue}/settings`, { json: { events } });
  const listen = async (query = "", headers = {}) => {
    const fetch = (path: string, init: RequestInit) =>
      app.fetch(new Request(`http://sluice.test${path}`, init));
    const stream = await openEvents(fetch, `/v1/queues/${queue}/events${query}`, headers);
    streams.push(stream);
    return stream;
  };

  it("reports events from the moment of the answer on", async () => {
    await configure(true);
    const stream = await listen();
    expect([stream.status, stream.headers.get("content-type"), stream.headers.get("cache-control")]).toEqual([
      200,
      "text/event-stream",
      "no-store",
    ]);
    await ask("POST", tasks(), { json: { tasks: ["a", "b"].map((id) => ({ id, payload: id })) } });
    const [{ receipt }] = (await ask("POST", `${tasks()}/pull`)).body.tasks;
    await ask("POST", `${tasks()}/settle`, { json: { settlements: [{ receipt, outcome: "complete" }] } });
    await ask("POST", `${tasks()}/b/cancel`);
    const frame = (event: string, ...ids: string[]) => ({
      event,
      id: undefined,
      data: { event, at: expect.any(Number), ids },
    });
    expect(await stream.take(4)).toEqual([
      frame("enqueued", "a", "b"),
      frame("dequeued", "a"),
      frame("completed", "a"),
      frame("cancelled", "b"),
    ]);
  });

  it("is silent while the queue's setting is off, and reports events once it is on", async () => {
    const stream = await listen("", { accept: "*/*" });
    await ask("POST", tasks(), { json: { payload: 1, id: "silent" } });
    await configure(true);
    await ask("POST", `${tasks()}/pull`);
    expect(await stream.next()).toMatchObject({ event: "dequeued", data: { ids: ["silent"] } });
  });

  it("stops listening when the client goes away", async () => {
    const stream = await listen();
    await untilListening(1);
    await stream.leave();
    await untilListening(0);
  });

  it("ends, and stops listening, when its time is over", async () => {
    const stream = await listen("?wait=50ms");
    expect(await stream.rest()).toEqual([]);
    await untilListening(0);
    for (const wait of ["301s", "soon"]) {
      expectProblem(await ask("GET", `/v1/queues/${queue}/events?wait=${wait}`), "invalid_request");
    }
  });

  it("ends with an error event when Redis is lost, and reports it", async () => {
    const stream = await listen();
    await served.transport.send([["CLIENT", "KILL", "TYPE", "pubsub"]]);
    const reported = await stream.rest();
    expect(reported).toMatchObject([{ event: "problem", data: { code: "redis_unreachable" } }]);
    expect(faults).toMatchObject([
      { instance: reported[0]?.data.instance, route: "/v1/queues/:queue/events", code: "redis_unreachable" },
    ]);
  });

  it("is for the scope admin", async () => {
    const events = `/v1/queues/${queue}/events`;
    for (const as of ["enqueue", "consume", "mails"] as const) {
      expectProblem(await ask("GET", events, { as }), "forbidden");
    }
    expectProblem(await ask("GET", events, { as: null }), "unauthorized");
  });

  it("answers HEAD without listening", async () => {
    const { status, body } = await ask("HEAD", `/v1/queues/${queue}/events`);
    expect([status, body]).toEqual([200, ""]);
    await untilListening(0);
  });
});

it("all streams of a process share one connection to Redis over TCP, which ends with the last", async () => {
  const app = createApp({ tokens, transport: served.transport, onError: (fault) => faults.push(fault) });
  const fetch = (path: string, init: RequestInit) =>
    app.fetch(new Request(`http://sluice.test${path}`, init));
  const ask = asker((request) => app.fetch(request));
  const queues = [queue, queue, `${queue}-b`, `${queue}-c`];
  const connections = async () => {
    const [outcome] = await served.transport.send([["CLIENT", "LIST", "TYPE", "pubsub"]]);
    return outcome && "reply" in outcome && String(outcome.reply).split("\n").length - 1;
  };
  for (const name of queues) {
    await ask("PATCH", `/v1/queues/${name}/settings`, { json: { events: true } });
    streams.push(await openEvents(fetch, `/v1/queues/${name}/events`));
  }
  expect(await connections()).toBe(1);
  for (const name of new Set(queues))
    await ask("POST", `/v1/queues/${name}/tasks`, { json: { id: name, payload: 1 } });
  for (const [i, stream] of streams.entries())
    expect(await stream.next()).toMatchObject({ event: "enqueued", data: { ids: [queues[i]] } });
  for (const stream of streams.splice(0, 3)) await stream.leave();
  expect(await connections()).toBe(1);
  await streams.pop()?.leave();
  await vi.waitUntil(async () => (await connections()) === 0, { timeout: 20_000, interval: 5 });
  expect(faults).toEqual([]);
});

it("a transport that cannot subscribe is refused for events, with the reason", async () => {
  const { transport } = served;
  const app = createApp({
    tokens,
    transport: { send: transport.send },
    onError: (fault) => faults.push(fault),
  });
  const answer = await asker((request) => app.fetch(request))("GET", `/v1/queues/${queue}/events`);
  expectProblem(answer, "unsupported");
});

it("Redis's refusal is answered as on any other route, and without its words", async () => {
  await served.transport.send([["ACL", "SETUSER", "quiet", "on", ">secret", "~*", "resetchannels", "+@all"]]);
  const own = await startGateway({ redisUrl: served.redis.url.replace("//", "//quiet:secret@") });
  try {
    const app = createApp({ tokens, transport: upstash(own), onError: (fault) => faults.push(fault) });
    const answer = await asker((request) => app.fetch(request))("GET", `/v1/queues/${queue}/events`);
    const { instance, detail } = expectProblem(answer, "redis_unauthorized");
    expect(detail).not.toMatch(/NOPERM|quiet/);
    expect(faults).toMatchObject([{ instance, code: "redis_unauthorized" }]);
  } finally {
    await own.close();
  }
});
