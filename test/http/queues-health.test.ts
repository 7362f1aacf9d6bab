import { beforeEach, describe, expect, it } from "vitest";
import { Queue } from "../../src/index.ts";
import { expectProblem, secrets, useServed } from "./served.ts";

const served = useServed();
const { ask } = served;

/** A queue with calls of half an hour ago. */
const earlier = (name: string) =>
  new Queue(name, {
    // A new transport, because it holds the memory of a function instance.
    transport: { send: (...args) => served.transport.send(...args) },
    now: () => Date.now() - 30 * 60_000,
  });

const health = (query = "", as: "all" | "mails" | "view" = "all") =>
  ask("GET", `/v1/health/queues${query}`, { as });

const ofQueues = (findings: readonly { queue?: string; code: string }[]) =>
  findings.flatMap(({ queue, code }) => (queue === undefined ? [] : [[queue, code]]));

describe("GET /v1/health/queues", () => {
  beforeEach(async () => {
    await served.transport.send([["FLUSHALL"]]);
    await earlier("stuck").enqueue(1);
    await earlier("mails-1").enqueue(1);
    await earlier("mails-1").dequeue({ lease: "1h" });
    await earlier("mails-2").enqueue(1);
    for (const task of await earlier("mails-2").dequeue()) await task.reject("no");
  });

  it("says that no queue matches, which need not be wrong", async () => {
    const { status, body } = await health("?queues=mials-*&fail=problem");
    expect(status).toBe(200);
    expect(body).toMatchObject({ queues: [] });
    expect(body.findings.at(-1)).toEqual({
      status: "unknown",
      code: "no_queue",
      about: "queues",
      found: "no queue in use matches mials-*",
    });
    const { body: all } = await health();
    expect(all.findings.map(({ code }: { code: string }) => code)).not.toContain("no_queue");
  });

  it("has what is wrong, and how each queue is", async () => {
    const { status, body } = await health();
    expect(status).toBe(200);
    const { findings, ...report } = body;
    expect(report).toEqual({
      status: "problem",
      now: expect.any(Number),
      queues: [
        { queue: "mails-1", status: "ok", pending: 0, working: 1 },
        { queue: "mails-2", status: "warning", pending: 0, working: 0 },
        { queue: "stuck", status: "problem", pending: 1, working: 0 },
      ],
      truncated: false,
    });
    expect(findings.map(({ code }: { code: string }) => code)).toEqual([
      "redis_slow",
      "version_unsupported",
      "eviction_on",
      "database_nearly_full",
      "not_durable",
      "clock_off",
      "dead_letters",
      "no_consumer",
    ]);
    expect(findings[5]).toMatchObject({ found: "this server and Redis agree" });
    expect(findings.at(-1)).toEqual({
      status: "problem",
      code: "no_consumer",
      about: "stuck",
      queue: "stuck",
      found: "1 pending, the next enqueued 30m ago, and no consumer works",
      advice: "is a consumer deployed, and does cron or a wake start it? Look at the platform's log",
    });
  });

  it("has the queues that the query and the token allow, and Redis's settings only for a token of all queues", async () => {
    const { body } = await health("?queues=mails-*&after=59m");
    expect(ofQueues(body.findings)).toEqual([["mails-2", "dead_letters_rising"]]);
    const limited = (await health("", "mails")).body;
    expect(limited.queues.map(({ queue }: { queue: string }) => queue)).toEqual(["mails-1", "mails-2"]);
    expect(limited.findings.map(({ code }: { code: string }) => code)).toEqual([
      "redis_slow",
      "clock_off",
      "dead_letters",
    ]);
    expect((await health("?queues=stuck", "mails")).body.queues).toEqual([]);
  });

  it("with `fail` responds 503 from that status on, with what was found", async () => {
    const failed = await health("?fail=problem&queues=stuck");
    expectProblem(failed, "unhealthy");
    expect(failed.body.detail).toBe("stuck: 1 pending, the next enqueued 30m ago, and no consumer works.");
    expect((await health("?fail=problem&queues=mails-*")).status).toBe(200);
    const warned = await health("?fail=warning&queues=mails-*", "mails");
    expectProblem(warned, "unhealthy");
    expect(warned.body.detail).toBe("mails-2: 1 dead letter.");
    await served.transport.send([["FLUSHALL"]]);
    expect((await health("?fail=warning", "mails")).status).toBe(200);
  });

  it("asks whether a similar queue was meant, of one without a consumer", async () => {
    await served.transport.send([["FLUSHALL"]]);
    const at = (name: string, ago: number) =>
      new Queue(name, { transport: served.transport, now: () => Date.now() - ago });
    for (const name of ["emials", "jobs-1", "reports"]) await at(name, 1_800_000).enqueue(1);
    for (const name of ["emails", "jobs-2"]) {
      await at(name, 0).enqueue(1);
      await at(name, 0).dequeue();
    }
    const { findings } = (await health()).body;
    const start = "is a consumer deployed, ";
    expect(findings.filter(({ code }: { code: string }) => code === "no_consumer")).toMatchObject([
      { queue: "emials", advice: expect.stringMatching(`^did you mean emails\\? If not: ${start}`) },
      { queue: "jobs-1", advice: expect.stringMatching(`^${start}`) },
      { queue: "reports", advice: expect.stringMatching(`^${start}`) },
    ]);
  });

  it.each([secrets.cron, undefined])(
    "says of cron that is a request whether its secret is set: %s",
    async (cronSecret) => {
      const asked = served.asking({ cronSecret, cronIsRequest: true });
      const ofCron = async (as: "all" | "mails") => {
        const { findings } = (await asked("GET", "/v1/health/queues", { as })).body;
        return findings.filter(({ code }: { code: string }) => code === "cron_refused");
      };
      expect(await ofCron("mails")).toEqual([]);
      expect(await ofCron("all")).toEqual([
        cronSecret
          ? { status: "ok", code: "cron_refused", about: "cron", found: "CRON_SECRET is set" }
          : expect.objectContaining({ status: "warning", found: "CRON_SECRET is not set" }),
      ]);
    },
  );

  it.each(["after=1h", "after=999", "after=x", "fail=ok", "queues=a%20b", "minutes=3"])(
    "refuses %s",
    async (query) => {
      const refused = await health(`?${query}`);
      expectProblem(refused, "invalid_request");
      expect(refused.body.errors).toMatchObject([{ path: query.split("=")[0] }]);
    },
  );
});
