import { describe, expect, it } from "vitest";
import { queueKeys } from "../../src/queue/core/keys.ts";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, queue, path, command, makeNewer, enqueue, pull, settle, receipts } = servedQueue();
const overview = (...names: readonly string[]) => ask("GET", `/v1/overview?queues=${names.join(",")}`);
const load = async () => (await ask("GET", `${path()}/load`)).body;
const configure = (json: object) => ask("PATCH", `${path()}/settings`, { json });
const zeros = Array.from({ length: 60 }, () => 0);
const noDurations = { count: 0, total: 0, classes: Array.from({ length: 13 }, () => 0) };
const events =
  "enqueued dequeued completed requeued rejected cancelled cancelRequested reclaimed redriven deleted";
const noneOf = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, 0]));

describe("GET /v1/overview", () => {
  it("has of a queue without tasks its counts, its settings, and zeros", async () => {
    const { status, body } = await overview("none");
    const limits = { maxWorking: null, rate: null, maxPending: null };
    const counts = noneOf("pending delayed working rejected broken workers");
    const none = {
      queue: "none",
      ...counts,
      oldestAge: null,
      nextDueAt: null,
      paused: false,
      partitions: 1,
      settings: { paused: false, ...limits, events: false, statistics: false },
      statistics: {
        on: false,
        perMinute: noneOf(events),
        series: { enqueued: zeros, dequeued: zeros, completed: zeros, failed: zeros },
        waits: noDurations,
        runs: noDurations,
        calls: noneOf("enqueue dequeue settle other"),
      },
    };
    expect([status, body]).toEqual([200, { now: expect.any(Number), queues: [none] }]);
  });

  it("has of a queue in use what its own routes have, and of each minute of the last hour one number", async () => {
    await configure({ statistics: true, maxWorking: 9 });
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }, { payload: 3 }, { payload: 4, delay: "1h" }] });
    const [first, second] = await receipts({ max: 2 });
    await settle({ receipt: first, outcome: "complete" }, { receipt: second, outcome: "requeue" });
    const [{ statistics: shown, ...shownCounts }] = (await overview(queue())).body.queues;
    const [counts, settings, statistics] = await Promise.all(
      ["", "/settings", "/statistics"].map(async (part) => (await ask("GET", `${path()}${part}`)).body),
    );
    expect(shownCounts).toEqual({ ...counts, oldestAge: expect.any(Number), settings, partitions: 1 });
    expect(shown.perMinute).toEqual(statistics.perMinute);
    expect([shown.on, shown.waits.count, shown.runs.count]).toEqual([true, 2, 2]);
    // The minute may have ended meanwhile.
    const sums = Object.entries<number[]>(shown.series).map(([event, series]) => [
      event,
      [series.length, series.slice(-3).reduce((sum, count) => sum + count)],
    ]);
    const expected = { enqueued: [60, 4], dequeued: [60, 2], completed: [60, 1], failed: [60, 1] };
    expect(Object.fromEntries(sums)).toEqual(expected);
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
