import { describe, expect, it, onTestFinished, test } from "vitest";
import { type Fetch, openEvents } from "../../http/event-frames.ts";
import { type Ask } from "../../http/served.ts";
import { Operator } from "../../../src/index.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { startWorker } from "../../../tools/workerd/harness.ts";
import { useWorker } from "./rig.ts";
import { expectLongWorkDone } from "../long-work.ts";

const rig = useWorker("wrangler.toml");
const ask: Ask = (...args) => rig.ask(...args);

describe("the Worker of wrangler.toml in workerd", () => {
  const fetchEvents: Fetch = (path, { headers = {} }) => rig.server.fetch(path, { headers });

  it("carries payloads of every kind", async () => {
    const payloads = [0, "", "42", "null", null, [], {}, "👩‍👩‍👧‍👦", "a\0b", "\ud800", "x".repeat(1_000_000)];
    const tasks = "/v1/queues/awkward/tasks";
    await ask("POST", tasks, { json: { tasks: payloads.map((payload) => ({ payload })) } });
    await ask("POST", tasks, { json: { payload: "AAH/", encoding: "base64" } });
    await ask("POST", tasks, { raw: `{"payload":${"[".repeat(999)}${"]".repeat(999)}}` });
    const pulled = (await ask("POST", `${tasks}/pull`, { json: { max: 100 } })).body.tasks;
    const [bytes, deep] = pulled.splice(payloads.length);
    expect(pulled.map(({ payload }: { payload: unknown }) => payload)).toEqual(payloads);
    expect(bytes).toMatchObject({ payload: "AAH/", encoding: "base64" });
    expect(JSON.stringify(deep.payload)).toBe("[".repeat(999) + "]".repeat(999));
  });

  it("follows a task as server-sent events until its end, and goes on after the Last-Event-ID", async () => {
    const path = "/v1/queues/followed/tasks";
    const open = (headers?: Record<string, string>) => openEvents(fetchEvents, `${path}/x`, headers);
    await ask("POST", path, { json: { payload: 1, id: "x" } });
    const stream = await open();
    expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(await stream.next()).toMatchObject({ event: "transition", id: "1", data: { to: "pending" } });
    const [{ receipt }] = (await ask("POST", `${path}/pull`)).body.tasks;
    expect(await stream.next()).toMatchObject({ event: "transition", id: "2", data: { to: "working" } });
    await ask("POST", `${path}/settle`, { json: { settlements: [{ receipt, outcome: "complete" }] } });
    const [end] = await stream.rest();
    expect(end).toMatchObject({ event: "end", id: "3", data: { task: { state: "completed" } } });
    expect(await (await open({ "last-event-id": "2" })).rest()).toEqual([end]);
    expect((await open({ "last-event-id": "3" })).status).toBe(204);
  });

  it("waits for the end of a task, or for the time given", async () => {
    const path = "/v1/queues/awaited/tasks";
    await ask("POST", path, { json: { payload: 1, id: "x" } });
    expect((await ask("GET", `${path}/x?wait=300ms`)).body.state).toBe("pending");
    const waiting = ask("GET", `${path}/x?wait=30s`);
    await ask("POST", `${path}/x/cancel`);
    expect((await waiting).body).toMatchObject({ state: "rejected", reason: "cancelled" });
  });

  it("stops polling a task once the client has disconnected", async () => {
    const path = "/v1/queues/left/tasks";
    await ask("POST", path, { json: { payload: 1, id: "x" } });
    const stream = await openEvents(fetchEvents, `${path}/x`);
    expect(await stream.next()).toMatchObject({ id: "1" });
    await stream.leave();
    // Quiet for longer than the longest pause between two polls.
    for (let requests = -1; requests !== rig.place.gateway.usage().requests;) {
      requests = rig.place.gateway.usage().requests;
      await new Promise((resolve) => setTimeout(resolve, 2_500));
    }
  });

  it("reports a queue's events from its answer on", async () => {
    const path = "/v1/queues/reporting";
    await new Operator("reporting", { transport: upstash(rig.place.env) }).configure({ events: true });
    const stream = await openEvents(fetchEvents, `${path}/events`);
    await ask("POST", `${path}/tasks`, { json: { payload: 1, id: "x" } });
    await ask("POST", `${path}/tasks/x/cancel`);
    expect(await stream.take(2)).toMatchObject([
      { event: "enqueued", data: { ids: ["x"] } },
      { event: "cancelled", data: { ids: ["x"] } },
    ]);
    await stream.leave();
  });

  it("has no documents, no dashboard, no deep sweep and no routes of operators, and says how to turn them on", async () => {
    for (const path of ["/openapi.json", "/docs"]) {
      const { status, body } = await ask("GET", path, { as: null });
      expect([status, body.code, body.detail]).toEqual([
        404,
        "no_route",
        expect.stringContaining("{ docs }"),
      ]);
    }
    for (const path of ["/", "/dashboard"])
      expect((await ask("GET", path, { as: null })).body.code).toBe("no_route");
    const queues = await ask("GET", "/v1/queues");
    expect([queues.status, queues.body.detail]).toEqual([404, expect.stringContaining("{ operations }")]);
    const refused = await ask("POST", "/v1/sweep", { json: { deep: true } });
    expect([refused.status, refused.body.code]).toEqual([501, "unsupported"]);
  });

  it("refuses what needs a part, and says which", async () => {
    const singleton = { key: "one", while: "waiting" };
    const { status, body } = await ask("POST", "/v1/queues/plain/tasks", { json: { payload: 1, singleton } });
    expect([status, body.detail]).toEqual([501, expect.stringContaining('"sluice-queue/debounce"')]);
  });
});

describe("a Worker with all parts in workerd", () => {
  const complete = useWorker("test/platforms/cloudflare/complete.toml");

  it("shows its documents", async () => {
    expect((await complete.ask("GET", "/openapi.json", { as: null })).body.openapi).toBe("3.1.1");
    expect((await complete.ask("GET", "/docs", { as: null })).body).toContain("<h1>Sluice");
  });

  it("shows the dashboard, and sweeps deeply", async () => {
    expect((await complete.ask("GET", "/dashboard", { as: null })).status).toBe(200);
    expect((await complete.ask("POST", "/v1/sweep", { json: { deep: true } })).body.faults).toEqual([]);
  });

  it("has strict order, debounce and schedules", async () => {
    const path = "/v1/queues/ledger";
    const statuses: number[] = [];
    const send = async (method: string, rest: string, json: object) =>
      void statuses.push((await complete.ask(method, path + rest, { json })).status);
    await send("PATCH", "/settings", { order: "strict" });
    await send("POST", "/tasks", { payload: 1, group: "a", singleton: { key: "one", while: "waiting" } });
    await send("POST", "/tasks", { payload: 2, group: "a" });
    await send("PUT", "/schedules/hourly", { every: "1h", payload: 3, group: "a" });
    expect(statuses).toEqual([200, 201, 201, 201]);
    const { body } = await complete.ask("POST", `${path}/tasks/pull`, { json: { max: 10 } });
    expect(body.tasks).toMatchObject([{ payload: 1 }]);
  });

  it("has flows: a task of another queue waits, and reads what came before it", async () => {
    const tasks = [
      { ref: "rows", queue: "rows", payload: 1 },
      { ref: "mail", queue: "mails", payload: 2, after: ["rows"] },
    ];
    const { status, body } = await complete.ask("POST", "/v1/flows", { json: { id: "nightly", tasks } });
    expect([status, body]).toMatchObject([201, { id: "nightly@rows", created: true }]);
    const pull = async (queue: string) =>
      (await complete.ask("POST", `/v1/queues/${queue}/tasks/pull`, { json: { max: 10 } })).body.tasks;
    expect(await pull("mails")).toEqual([]);
    const [{ receipt }] = await pull("rows");
    const settlements = [{ receipt, outcome: "complete", result: 7 }];
    await complete.ask("POST", "/v1/queues/rows/tasks/settle", { json: { settlements } });
    const [mail] = await pull("mails");
    const before = await complete.ask("GET", `/v1/queues/mails/tasks/${encodeURIComponent(mail.id)}/before`);
    expect(before.body.tasks).toMatchObject({ rows: { state: "completed", result: 7 } });
    expect((await complete.ask("GET", "/v1/flows/nightly@rows")).body).toMatchObject({
      counts: { completed: 1, working: 1 },
    });
  });
});

test("a Worker bound to itself goes on in further invocations if the work takes longer than one may", async () => {
  const { server, fetch } = await startWorker("test/platforms/cloudflare/chain.toml", rig.place.env);
  onTestFinished(() => server.close());
  await expectLongWorkDone({ fetch });
});
