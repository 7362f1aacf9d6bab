import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { LoggedError } from "../../src/http/problems/logged-error.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import type { Transport } from "../../src/kernel/transport.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { openEvents, type TestStream } from "./event-frames.ts";
import { type Ask, asker, expectProblem, useServed } from "./served.ts";

const served = useServed();
let gateway: Gateway;
let faults: LoggedError[] = [];
let streams: TestStream[] = [];
let queue: string;
let count = 0;

beforeAll(async () => {
  gateway = await startGateway({ redisUrl: served.redis.url });
});
afterAll(() => gateway.close());
beforeEach(() => {
  queue = `q${count++}`;
  faults = [];
});
afterEach(async () => {
  for (const stream of streams) await stream.leave();
  streams = [];
  await untilListening(0);
});

const onError = (fault: LoggedError) => faults.push(fault);
/** Resolves when that many connections listen to the queue's channel, by Redis's own count. */
const untilListening = (listeners: number) =>
  vi.waitUntil(
    async () => {
      const [outcome] = await served.transport.send([["PUBSUB", "NUMSUB", `sluice:{${queue}}:events`]]);
      return outcome && "reply" in outcome && (outcome.reply as unknown[])[1] === listeners;
    },
    { timeout: 20_000, interval: 5 },
  );

async function listen(app: ReturnType<typeof served.make>, query = ""): Promise<TestStream> {
  const fetch = (path: string, init: RequestInit) =>
    app.fetch(new Request(`http://sluice.test${path}`, init));
  const stream = await openEvents(fetch, `/v1/queues/${queue}/events${query}`, { accept: "*/*" });
  streams.push(stream);
  return stream;
}

const transports: readonly (readonly [string, () => Transport])[] = [
  ["resp", () => served.transport],
  ["upstash", () => upstash(gateway)],
];

describe.each(transports)("GET /v1/queues/:queue/events over %s", (_, transport) => {
  let app: ReturnType<typeof served.make>;
  let ask: Ask;
  beforeEach(() => {
    app = served.make({ transport: transport(), onError });
    ask = asker((request) => app.fetch(request));
  });
  const at = (path: string) => `/v1/queues/${queue}${path}`;
  const configure = (events: boolean) => ask("PATCH", at("/settings"), { json: { events } });

  it("reports events from the moment of the answer on, while the queue's setting is on", async () => {
    const stream = await listen(app);
    const { status, headers } = stream;
    const type = ["text/event-stream", "no-store, no-transform"];
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([200, ...type]);
    await ask("POST", at("/tasks"), { json: { payload: 1, id: "silent" } });
    await configure(true);
    await ask("POST", at("/tasks"), { json: { tasks: ["a", "b"].map((id) => ({ id, payload: id })) } });
    const [{ receipt }] = (await ask("POST", at("/tasks/pull"))).body.tasks;
    const settlements = [{ receipt, outcome: "complete" }];
    await ask("POST", at("/tasks/settle"), { json: { settlements } });
    await ask("POST", at("/tasks/b/cancel"));
    const frame = (event: string, ...ids: string[]) => {
      const tasks = event === "completed" && { tasks: ids.map((id) => ({ id, attempt: 1 })) };
      return { event, id: undefined, data: { event, at: expect.any(Number), ids, ...tasks } };
    };
    expect(await stream.take(4)).toEqual([
      frame("enqueued", "a", "b"),
      frame("dequeued", "silent"),
      frame("completed", "silent"),
      frame("cancelled", "b"),
    ]);
  });

  it("stops listening when the client goes away", async () => {
    const stream = await listen(app);
    await untilListening(1);
    await stream.leave();
    await untilListening(0);
  });

  it("ends, and stops listening, when its time is over", async () => {
    const stream = await listen(app, "?wait=50ms");
    expect(await stream.rest()).toEqual([]);
    await untilListening(0);
    for (const wait of ["301s", "soon"])
      expectProblem(await ask("GET", at(`/events?wait=${wait}`)), "invalid_request");
  });

  it("goes on after a gap when the connection to Redis is lost", async () => {
    const stream = await listen(app);
    await served.transport.send([["CLIENT", "KILL", "TYPE", "pubsub"]]);
    const gap = { event: "gap", at: expect.any(Number), ids: [] };
    expect(await stream.take(1)).toEqual([{ event: "gap", id: undefined, data: gap }]);
    await configure(true);
    await ask("POST", at("/tasks"), { json: { payload: 1, id: "a" } });
    expect(await stream.take(1)).toMatchObject([{ event: "enqueued", data: { ids: ["a"] } }]);
    expect(faults).toEqual([]);
  });

  it("answers HEAD without listening", async () => {
    const { status, body } = await ask("HEAD", at("/events"));
    expect([status, body]).toEqual([200, ""]);
    await untilListening(0);
  });
});

it("Redis's refusal is answered as on any other route, and ends a stream with an error event, without its words", async () => {
  const change = (...rules: string[]) => served.transport.send([["ACL", "SETUSER", "quiet", ...rules]]);
  await change("on", ">secret", "~*", "allchannels", "+@all");
  const own = await startGateway({ redisUrl: served.redis.url.replace("//", "//quiet:secret@") });
  try {
    const options = { transport: upstash(own), onError };
    const stream = await listen(served.make(options));
    // Redis ends the subscriptions that the user may not have any more.
    await change("resetchannels");
    const [problem, ...rest] = await stream.rest();
    const refused = { code: "redis_unauthorized", detail: expect.not.stringMatching(/NOPERM|quiet/) };
    expect([problem, rest]).toMatchObject([{ event: "problem", data: refused }, []]);
    const answer = await served.asking(options)("GET", `/v1/queues/${queue}/events`);
    const { instance, detail } = expectProblem(answer, "redis_unauthorized");
    expect(detail).not.toMatch(/NOPERM|quiet/);
    const route = "/v1/queues/:queue/events";
    expect(faults).toMatchObject([
      { instance: problem?.data.instance, route, code: "redis_unauthorized" },
      { instance, route, code: "redis_unauthorized" },
    ]);
  } finally {
    await own.close();
  }
});
