import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import type { ConsumerOptions } from "../../src/deploy/consumer.ts";
import { defineQueue, Schedules, type WorkOptions } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";
import { useDeployments } from "./deployments.ts";

// A deployment whose queues are declared.
const rig = useRig();
const { during, lines, queue, deployment, idle } = useDeployments(rig);

interface Env {
  readonly MAIL_URL: string;
}

const emails = defineQueue("emails", {
  schema: z.object({ to: z.string(), times: z.number().default(1) }),
  maxAttempts: 2,
  backoff: ["1h"],
  maxWorking: 20,
  schedules: { digest: { cron: "0 9 * * 1", payload: { to: "team" } } },
});

const settings = () => rig.operator().settings();

describe("a deployment of declared queues", () => {
  test("works with their types, options and schema", async () => {
    const seen: unknown[] = [];
    const { call, ended, cron } = deployment<Env>({
      consumers: [
        emails.consumer<Env>(({ payload }, { MAIL_URL }) => {
          expectTypeOf(payload).toEqualTypeOf<{ to: string; times: number }>();
          seen.push([payload, MAIL_URL]);
          if (payload.to === "fails") throw new Error("busy");
        }),
      ],
      fetch: async (_, its) => Response.json(await its.queue(emails).enqueue({ to: "a" }, { id: "a" })),
    });
    expect(await (await call()).json()).toEqual({ id: "a", created: true });
    await ended();
    expect(seen).toEqual([[{ to: "a", times: 1 }, "m"]]);
    await queue().enqueue({ to: "fails" }, { id: "b" });
    await cron();
    const { dueAt, requeuedAt } = (await queue().get("b")) ?? {};
    expect((dueAt ?? 0) - (requeuedAt ?? 0)).toBe(3_600_000);
  });

  test("applies settings and schedules with cron, once, and says so in the log", async () => {
    const options = { consumers: [emails.consumer(() => {})] };
    await deployment(options).cron();
    const maxWorkingSet = { maxWorking: { from: null, to: 20 } };
    expect(lines.out).toEqual([
      { declared: "emails", applied: true, settings: maxWorkingSet, put: ["digest"] },
    ]);
    expect(await settings()).toMatchObject({ maxWorking: 20 });
    const schedules = new Schedules(emails, { transport: rig.transport });
    expect(await schedules.get("digest")).toMatchObject({ cron: "0 9 * * 1", payload: { to: "team" } });
    await deployment(options).cron();
    expect(lines.out).toHaveLength(1);
  });

  test("warns of what another deployment of the queue takes away, and says what it changes", async () => {
    const schedules = {
      digest: { cron: "0 9 * * 1", payload: 1 },
      hourly: { every: "1h", payload: 1 },
    } as const;
    const production = { maxPending: 5, maxWorking: 20, events: true, schedules };
    await deployment({ queues: [defineQueue("emails", production)] }).cron();
    lines.out.splice(0);
    const { digest } = schedules;
    const script = { maxPending: 9, maxWorking: 20, schedules: { digest } };
    await deployment({ queues: [defineQueue("emails", script)] }).cron();
    await deployment({ queues: [defineQueue("emails")] }).cron();
    expect(lines).toEqual({
      out: [],
      err: [
        {
          declared: "emails",
          applied: true,
          settings: { maxPending: { from: 5, to: 9 }, events: { from: true, to: false } },
          put: ["digest"],
          removed: ["hourly"],
        },
        {
          declared: "emails",
          applied: true,
          settings: { maxWorking: { from: 20, to: null }, maxPending: { from: 9, to: null } },
          removed: ["digest"],
        },
      ],
    });
  });

  test("says what it has changed of a declaration that cannot be applied completely", async () => {
    const never = { cron: "0 0 1 1 *", until: 1, payload: 1 };
    await deployment({ queues: [defineQueue("emails", { maxWorking: 3, schedules: { never } })] }).cron();
    const settings = { maxWorking: { from: null, to: 3 } };
    expect(lines.err).toEqual([
      { declared: "emails", failed: expect.objectContaining({ code: "invalid_argument" }), settings },
    ]);
  });

  test("applies them also if cron is a request for a sweep", async () => {
    const CRON_SECRET = "a-secret-of-cron";
    const { service } = deployment({ queues: [emails] }, { afterResponse: "none" }, { CRON_SECRET });
    const sweep = (secret: string) =>
      service.fetch(
        new Request("https://sluice.test/v1/sweep", { headers: { authorization: `Bearer ${secret}` } }),
      );
    expect((await sweep("another-secret-of-cron")).status).toBe(401);
    expect(await settings()).toMatchObject({ maxWorking: null });
    expect((await sweep(CRON_SECRET)).status).toBe(200);
    expect(await settings()).toMatchObject({ maxWorking: 20 });
  });

  test("asks again after ten minutes: the last of two deployments that stays wins", async () => {
    const clock = vi.spyOn(performance, "now");
    const { cron } = deployment({ queues: [emails] });
    await cron();
    await deployment({ queues: [defineQueue("emails", { maxWorking: 3 })] }).cron();
    await cron();
    expect(await settings()).toMatchObject({ maxWorking: 3 });
    const now = performance.now();
    clock.mockImplementation(() => now + 600_001);
    await cron();
    expect(await settings()).toMatchObject({ maxWorking: 20 });
  });

  test("in a process connects the queues' own methods, which wake a consumer and do not wait for it", async () => {
    const seen: unknown[] = [];
    const own = defineQueue<string>("emails");
    let end = () => {};
    const handled = during(new Promise<void>((resolve) => (end = resolve)));
    const consumer = own.consumer(async ({ payload }) => {
      seen.push(payload);
      await handled;
    });
    deployment({ consumers: [consumer] }, { afterResponse: "any", waitUntil: () => {} });
    const { id } = await own.enqueue("from elsewhere in the process");
    await vi.waitUntil(() => seen.length > 0, { timeout: 20_000 });
    expect(await own.get(id)).toMatchObject({ state: "working", version: 2 });
    end();
    await idle();
    expect(await own.get(id)).toMatchObject({ state: "completed" });
    expect(seen).toEqual(["from elsewhere in the process"]);
  });

  test("logs what cannot be applied, sweeps anyway, and tries again with the next cron", async () => {
    await rig.command("HSET", "sluice:{emails}:tasks", "~declared", "2;newer");
    await queue().enqueue({ to: "a" }, { id: "a" });
    const { cron } = deployment({ consumers: [emails.consumer(() => {})] });
    await cron();
    expect(lines.err).toMatchObject([{ declared: "emails", failed: { code: "newer_schema" } }]);
    expect(await queue().get("a")).toMatchObject({ state: "completed" });
    await rig.command("HDEL", "sluice:{emails}:tasks", "~declared");
    await cron();
    expect(await settings()).toMatchObject({ maxWorking: 20 });
  });
});

describe("the queues and consumers of a deployment are checked at its start", () => {
  const consumer = emails.consumer(() => {});
  const handler = () => {};
  const other = defineQueue("emails");
  const schedule = (daily: unknown) => [defineQueue("a", { schedules: { daily } as never })];
  const named = (consumer: unknown, more = {}) => ({ consumers: { emails: consumer }, ...more });
  test.each<[object, string]>([
    [named({}), "consumers.emails must be a function, or an object with a function `handler`"],
    [named(null), "consumers.emails must be an object"],
    [
      named({ handler, concurency: 3 }),
      "consumers.emails.concurency is an unknown option; expected one of handler, schema, encryption, batch, ",
    ],
    [named({ handler, concurrency: 5_000 }), "consumers.emails.concurrency must be"],
    [named({ handler, schema: {} }), "consumers.emails.schema must be a Standard Schema"],
    [
      named({ handler, encryption: {} }),
      "consumers.emails.encryption must be a function that takes the environment",
    ],
    [
      named({ handler, encryption: () => undefined }),
      "consumers.emails.encryption() must be made by encryption()",
    ],
    [{ consumers: { "bad name": handler } }, "consumers.bad name must be 1 to 128 of"],
    [{ onDeadLetter: "slack" }, "onDeadLetter must be a function"],
    [{ onFailure: 1 }, "onFailure must be a function"],
    [
      { consumer: {} },
      "consumer is an unknown option; expected one of consumers, queues, dashboard, operations, docs, deepSweep, schedules, order, debounce, flows, topics, endpoints, qstash, fetch, onDeadLetter, " +
        "onFailure, tracing, offload, alerts, wake, logger, budget, requests",
    ],
    [{ consumers: [consumer, consumer] }, "consumers[1] must be the only consumer of emails"],
    [{ consumers: [consumer, other.consumer(handler)] }, "consumers[1] must be the only consumer of emails"],
    [{ consumers: [{ ...consumer, handler: 1 }] }, "consumers[0] must have a handler"],
    [
      { consumers: [emails.consumer(handler, { concurency: 3 } as never)] },
      "consumers[0].concurency is an unknown option",
    ],
    // What the deployment sets itself.
    [
      { consumers: [emails.consumer(handler, { listen: handler } as never)] },
      "consumers[0].listen is an unknown option",
    ],
    [{ consumers: { emails: { handler, listen: handler } } }, "consumers.emails.listen is an unknown option"],
    [{ consumers: [handler] }, "consumers[0] must be the consumer of a queue that defineQueue"],
    [{ consumers: [consumer, null] }, "consumers[1] must be the consumer of a queue that"],
    [{ consumers: null }, "consumers must be an array of consumers of declared queues, or an object"],
    [{ consumers: consumer }, "consumers must be an array of the consumers of"],
    [
      { consumers: { emails: consumer } },
      "consumers must be an array of the consumers of declared queues, as [emails.consumer(handler)]",
    ],
    [{ queues: ["emails"] }, "queues[0] must be a queue that defineQueue made"],
    [{ consumers: [consumer], queues: [emails, null] }, "queues[1] must be a queue that"],
    [{ queues: emails }, "queues must be an array of queues that defineQueue made"],
    [
      { consumers: { emails: handler }, queues: [emails] },
      "queues[0] must not declare emails, which has a consumer by its name",
    ],
    [
      { consumers: [consumer], queues: [defineQueue("reports"), other] },
      "queues[1] must not declare emails a second time",
    ],
    [{ queues: schedule(1) }, "a.schedules.daily must be an object"],
    [
      { queues: schedule({ cron: "at nine", payload: 1 }) },
      "a.schedules.daily.cron must be a cron expression",
    ],
    [
      { queues: schedule({ cron: "0 99 * * *", payload: 1 }) },
      'a.schedules.daily.cron must be a cron expression: "99" is no hour',
    ],
    [
      { queues: schedule({ cron: "0 9 * * *", timeZone: "Europe/Nowhere", payload: 1 }) },
      "a.schedules.daily.timeZone must be an IANA time zone",
    ],
    [
      { queues: schedule({ cron: "0 0 31 2 *", payload: 1 }) },
      "a.schedules.daily must occur at least once from now on",
    ],
    [{ queues: schedule({ every: "1h" }) }, "a.schedules.daily.payload is undefined; it must be"],
  ])("%j: %s", (options, problem) => {
    const refused = expect.objectContaining({
      code: "invalid_argument",
      message: expect.stringContaining(problem),
      path: problem.replace(/ (?:must|is) .*/, ""),
    });
    expect(() => deployment(options)).toThrow(refused);
  });
});

test("a consumer by the queue's name has the options of a declared queue's consumer", () => {
  expectTypeOf<Omit<ConsumerOptions, "handler" | "schema" | "encryption">>().toEqualTypeOf<WorkOptions>();
  expectTypeOf<ConsumerOptions>().not.toHaveProperty("listen");
});
