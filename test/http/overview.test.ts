import { describe, expect, it } from "vitest";
import { queueKeys } from "../../src/queue/core/keys.ts";
import { resp } from "../../src/transport/resp.ts";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, queue, redis, path, enqueue, settle, receipts } = servedQueue();
const overview = (...names: readonly string[]) => ask("GET", `/v1/overview?queues=${names.join(",")}`);
const zeros = Array.from({ length: 60 }, () => 0);
const noDurations = { count: 0, total: 0, classes: Array.from({ length: 13 }, () => 0) };
const events =
  "enqueued dequeued completed requeued rejected cancelled cancelRequested reclaimed redriven deleted";
const noneOf = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, 0]));

describe("GET /v1/overview", () => {
  it("has of a queue without tasks its counts, its settings, and zeros", async () => {
    const { status, body } = await overview("none");
    const { settings, statistics, ...counts } = body.queues[0];
    expect([status, body.now, body.queues.length]).toEqual([200, expect.any(Number), 1]);
    const none = noneOf("pending delayed working rejected broken workers");
    const times = { oldestAge: null, nextDueAt: null };
    expect(counts).toEqual({ queue: "none", ...none, ...times, paused: false, partitions: 1 });
    const limits = { maxWorking: null, rate: null, maxPending: null };
    expect(settings).toEqual({ paused: false, ...limits, events: false, statistics: false });
    expect(statistics).toEqual({
      on: false,
      perMinute: noneOf(events),
      series: { enqueued: zeros, dequeued: zeros, completed: zeros, failed: zeros },
      waits: noDurations,
      runs: noDurations,
      calls: noneOf("enqueue dequeue settle other"),
    });
  });

  it("has of a queue in use what its own routes have, and of each minute of the last hour one number", async () => {
    await ask("PATCH", `${path()}/settings`, { json: { statistics: true, maxWorking: 9 } });
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }, { payload: 3 }, { payload: 4, delay: "1h" }] });
    const [first, second] = await receipts({ max: 2 });
    await settle({ receipt: first, outcome: "complete" }, { receipt: second, outcome: "requeue" });
    const { now, queues } = (await overview(queue())).body;
    const [counts, settings, statistics] = await Promise.all(
      ["", "/settings", "/statistics"].map(async (part) => (await ask("GET", `${path()}${part}`)).body),
    );
    const [{ statistics: shown, ...shownCounts }] = queues;
    expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
    expect(shownCounts).toEqual({ ...counts, oldestAge: expect.any(Number), settings, partitions: 1 });
    expect(shown.perMinute).toEqual(statistics.perMinute);
    expect([shown.on, shown.waits.count, shown.runs.count]).toEqual([true, 2, 2]);
    // The minute may have ended meanwhile.
    const sums = Object.entries<number[]>(shown.series).map(([event, series]) => [
      event,
      series.length,
      series.slice(-3).reduce((sum, count) => sum + count),
    ]);
    expect(sums).toEqual([
      ["enqueued", 60, 4],
      ["dequeued", 60, 2],
      ["completed", 60, 1],
      ["failed", 60, 1],
    ]);
  });

  it("has the queues in the order of the request, and the error of one that cannot be read", async () => {
    const client = resp(redis().url);
    await client.send([["HSET", queueKeys("newer").tasks, "~set", "2;p=1"]]);
    await client.close();
    const newer = { queue: "newer", code: "newer_schema" };
    const { queues } = (await overview("z", "newer", "a")).body;
    expect(queues).toEqual([
      expect.objectContaining({ queue: "z" }),
      newer,
      expect.objectContaining({ queue: "a" }),
    ]);
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
    const both = "/v1/overview?queues=mails-1,bills";
    const { detail } = expectProblem(await ask("GET", both, { as: "mails" }), "forbidden");
    expect(detail).toMatch(/ for the queue bills\.$/);
    expect((await ask("GET", "/v1/overview?queues=mails-1,mails-2", { as: "mails" })).status).toBe(200);
  });
});
