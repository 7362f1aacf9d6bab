import { operations } from "../../src/http/operations/index.ts";
import { describe, expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { startGateway } from "../../src/local/index.ts";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { asker, expectProblem, servedQueue, tokens } from "./served.ts";

const { ask, queue, path, command, lose, makeNewer, enqueue, pull, settle, receipts } = servedQueue();
const overview = (...names: readonly string[]) => ask("GET", `/v1/overview?queues=${names.join(",")}`);
const load = async () => (await ask("GET", `${path()}/load`)).body;
const configure = (json: object) => ask("PATCH", `${path()}/settings`, { json });
describe("GET /v1/overview", () => {
  it("has of a queue what its own routes have, and of each minute of the last hour one number", async () => {
    await configure({ statistics: true, maxWorking: 9 });
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }, { payload: 3 }, { payload: 4, delay: "1h" }] });
    const [first, ...others] = await receipts({ max: 3 });
    const failed = others.map((receipt) => ({ receipt, outcome: "requeue" }));
    await settle({ receipt: first, outcome: "complete" }, ...failed);
    const { now, queues } = (await overview(queue(), "none")).body;
    expect(now).toEqual(expect.any(Number));
    // The minute may have ended meanwhile.
    const sum = (series: number[]) => [series.length, series.slice(-3).reduce((total, one) => total + one)];
    const numbers = { enqueued: [60, 4], dequeued: [60, 3], completed: [60, 1], failed: [60, 2] };
    const zeros = { enqueued: [60, 0], dequeued: [60, 0], completed: [60, 0], failed: [60, 0] };
    for (const [{ statistics: shown, settings, ...counts }, on, sums] of [
      [queues[0], true, numbers],
      [queues[1], false, zeros],
    ] as const) {
      const own = async (part: string) => (await ask("GET", `/v1/queues/${counts.queue}${part}`)).body;
      const oldestAge = on ? expect.any(Number) : null;
      expect(counts).toEqual({ ...(await own("")), oldestAge, partitions: 1 });
      const { perMinute, totals } = await own("/statistics");
      expect([settings, shown.perMinute]).toEqual([await own("/settings"), perMinute]);
      const { series, waits, runs, calls, waitP95 } = shown;
      // One of four waits, as long as the test takes so far; the others have started at once.
      expect(waitP95).toEqual(on ? expect.any(Number) : null);
      expect([shown.on, waits, runs, calls]).toEqual([on, totals.waits, totals.runs, totals.calls]);
      const summed = Object.entries<number[]>(series).map(([event, minutes]) => [event, sum(minutes)]);
      expect(Object.fromEntries(summed)).toEqual(sums);
    }
  });

  it("has the queues in the order of the request, and the error of one that cannot be read", async () => {
    await makeNewer("newer");
    const newer = { queue: "newer", code: "newer_schema" };
    const { queues } = (await overview("z", "newer", "a")).body;
    expect(queues).toMatchObject([{ queue: "z", pending: 0 }, newer, { queue: "a", pending: 0 }]);
    expect((await overview("newer")).body).toEqual({ now: null, queues: [newer] });
  });

  it("takes a hundred queues, and is refused for more, for none, for a name twice and for invalid names", async () => {
    const names = Array.from({ length: 101 }, (_, i) => `many-${i}`);
    expect((await overview(...names.slice(1))).body.queues).toHaveLength(100);
    for (const wrong of [names, [], ["a", "a"], ["a", ""], ["a", ".b"], ["*"]]) {
      const { errors } = expectProblem(await overview(...wrong), "invalid_request");
      const message = "must be 1 to 100 names of queues with commas between, each once";
      expect(errors).toEqual([{ path: "queues", message }]);
    }
    const { errors } = expectProblem(await ask("GET", "/v1/overview"), "invalid_request");
    expect(errors).toEqual([{ path: "queues", message: "is required" }]);
  });

  it("is refused if one of the queues does not match the token's pattern", async () => {
    const of = (queues: string) => ask("GET", `/v1/overview?queues=${queues}`, { as: "mails" });
    expect(expectProblem(await of("mails-1,bills"), "forbidden").detail).toMatch(/ for the queue bills\.$/);
    expect((await of("mails-1,mails-2")).status).toBe(200);
  });
});

describe("GET /v1/queues/:queue/load", () => {
  it("has numbers to scale by: working tasks count as backlog, and pending ones are divided by the workers that gave a name", async () => {
    const of = { queue: queue(), paused: false, perMinute: { enqueued: 0, completed: 0 } };
    const none = { pending: 0, working: 0, backlog: 0, workers: 0, perWorker: 0, oldestAge: 0 };
    expect(await load()).toEqual({ ...of, ...none });
    await enqueue({ tasks: Array.from({ length: 8 }, () => ({ payload: 1 })) });
    expect(await load()).toMatchObject({ pending: 8, working: 0, backlog: 8, workers: 0, perWorker: 8 });
    await pull({ worker: { name: "a" } });
    await pull({ max: 2, worker: { name: "b" } });
    const some = { pending: 5, working: 3, backlog: 8, workers: 2, perWorker: 2.5 };
    expect(await load()).toEqual({ ...of, ...some, oldestAge: expect.any(Number) });
    await ask("POST", `${path()}/pause`);
    expect(await load()).toMatchObject({ pending: 5, working: 3, paused: true, backlog: 3, perWorker: 0 });
  });

  it("has the rates of a queue that keeps statistics", async () => {
    await configure({ statistics: true });
    const minute = Math.floor(Date.now() / 60_000);
    const record = (of: number) => `1;${of};enqueued=10;completed=5`;
    const fields = [1, 2, 3].flatMap((ago) => [`~m${(minute - ago) % 60}`, record(minute - ago)]);
    await command("HSET", queueKeys(queue()).tasks, ...fields);
    // At the turn of a minute the three are still among the last five.
    expect((await load()).perMinute).toEqual({ enqueued: 6, completed: 3 });
  });

  it("reports a queue that a later release wrote", async () => {
    await makeNewer();
    expectProblem(await ask("GET", `${path()}/load`), "newer_schema");
  });
});

describe("GET /v1/diagnostics", () => {
  it("has what Redis reports of itself", async () => {
    const { status, body } = await ask("GET", "/v1/diagnostics");
    const numbers = { now: expect.any(Number), roundTrip: expect.any(Number) };
    const memory = { usedMemory: expect.any(Number), maxMemory: expect.any(Number) };
    const version = expect.stringMatching(/^\d+\.\d+/);
    const policies = { evictionPolicy: "noeviction", appendOnly: expect.any(Boolean) };
    expect([status, body]).toEqual([200, { ...numbers, version, ...memory, ...policies }]);
    expect(Math.abs(body.now - Date.now())).toBeLessThan(60_000);
  });

  it("shows what concerns all of the database only to operators of all queues", async () => {
    const { body } = await ask("GET", "/v1/diagnostics", { as: "mails" });
    expect(body).toMatchObject({ roundTrip: expect.any(Number), version: null, maxMemory: null });
  });

  it("has null for what the store does not report", async () => {
    const gateway = await startGateway();
    try {
      const app = createApp({ operations, transport: upstash(gateway), tokens });
      const { body } = await asker((request) => app.fetch(request))("GET", "/v1/diagnostics");
      expect(body).toMatchObject({ evictionPolicy: null, usedMemory: null, appendOnly: null });
    } finally {
      await gateway.close();
    }
  });
});

describe("GET /v1/queues/:queue/diagnostics", () => {
  it("has sizes, and says that all entries are valid, also of a queue that does not exist", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }] });
    await pull();
    const { fields, bytes, ...rest } = (await ask("GET", `${path()}/diagnostics`)).body;
    expect(rest).toEqual({ queue: queue(), valid: true, entries: expect.any(Number) });
    expect([fields > 2, bytes > 100]).toEqual([true, true]);
    const none = { queue: "nothing-here", fields: 0, bytes: 0, valid: true, entries: 0 };
    expect((await ask("GET", "/v1/queues/nothing-here/diagnostics")).body).toEqual(none);
  });

  it("says that a queue with a fault is not valid, and changes nothing", async () => {
    await enqueue({ id: "lost", payload: 1 });
    await lose("lost");
    expect((await ask("GET", `${path()}/diagnostics`)).body).toMatchObject({ valid: false, entries: 0 });
    expect(await command("LLEN", queueKeys(queue()).pending)).toEqual([{ reply: 0 }]);
    // The invariants hold again.
    await ask("POST", "/v1/sweep", { json: { deep: true, queue: queue() } });
  });
});
