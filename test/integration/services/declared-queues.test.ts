import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import type { ConsumerOptions } from "../../../serverless/deployment/consumer.ts";
import { Service, type Platform, type ServiceOptions } from "../../../serverless/deployment/service.ts";
import { defineQueue, Schedules, type Transport, type WorkOptions } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

// A deployment whose queues are declared, in real time.
const rig = useRig();

interface Env {
  readonly MAIL_URL: string;
}

const env = { UPSTASH_REDIS_REST_URL: "https://redis.test", UPSTASH_REDIS_REST_TOKEN: "t", MAIL_URL: "m" };
const emails = defineQueue("emails", {
  schema: z.object({ to: z.string(), times: z.number().default(1) }),
  maxAttempts: 2,
  backoff: ["1h"],
  maxWorking: 20,
  schedules: { digest: { cron: "0 9 * * 1", payload: { to: "team" } } },
});

/** The commands of each request of the deployment. */
let requests: number[];
let lines: { out: unknown[]; err: unknown[] };
beforeEach(() => {
  requests = [];
  lines = { out: [], err: [] };
  vi.spyOn(console, "log").mockImplementation((line) => lines.out.push(JSON.parse(String(line))));
  vi.spyOn(console, "error").mockImplementation((line) => lines.err.push(JSON.parse(String(line))));
});
afterEach(() => void vi.restoreAllMocks());

function deployment(options: ServiceOptions<Env>, platform: Partial<Platform> = {}) {
  const transport = (): Transport => ({
    send: (commands, sending) => {
      requests.push(commands.length);
      return rig.transport.send(commands, sending);
    },
  });
  const service = new Service<Env>(env, options, {
    transport,
    budget: "10s",
    afterResponse: "bounded",
    ...platform,
  });
  const after: Promise<unknown>[] = [];
  const fetch = (path: string) =>
    service.fetch(new Request(`https://sluice.test${path}`), (promise) => after.push(promise));
  return { service, fetch, after };
}

const operator = () => rig.operator();

describe("a deployment of declared queues", () => {
  test("works with their types, options and schema", async () => {
    const seen: unknown[] = [];
    const { fetch, after } = deployment({
      consumers: [
        emails.consumer<Env>(({ payload }, { MAIL_URL }) => {
          expectTypeOf(payload).toEqualTypeOf<{ to: string; times: number }>();
          seen.push([payload, MAIL_URL]);
          if (payload.to === "fails") throw new Error("busy");
        }),
      ],
      fetch: async (_, { queue }) => Response.json(await queue(emails).enqueue({ to: "a" }, { id: "a" })),
    });
    expect(await (await fetch("/")).json()).toEqual({ id: "a", created: true });
    await Promise.all(after);
    expect(seen).toEqual([[{ to: "a", times: 1 }, "m"]]);
    await rig.queue({ now: undefined }).enqueue({ to: "fails" }, { id: "b" });
    await deployment({
      consumers: [emails.consumer(() => Promise.reject(new Error("busy")))],
    }).service.cron();
    const { dueAt, requeuedAt } = (await rig.queue().get("b")) ?? {};
    expect((dueAt ?? 0) - (requeuedAt ?? 0)).toBe(3_600_000);
  });

  test("refuses a payload that does not match the schema, and takes the declared options at enqueue", async () => {
    const problems: unknown[] = [];
    const { fetch } = deployment({
      queues: [emails],
      fetch: async (_, { queue }) => {
        await queue(emails)
          .enqueue({ to: 7 } as never)
          .catch(({ path }: { path: string }) => problems.push(path));
        await queue(emails).enqueue({ to: "b" }, { id: "b" });
        return new Response("ok");
      },
    });
    await fetch("/");
    expect(problems).toEqual(["payload.to"]);
    expect((await rig.space()).tasks.get("b")).toMatch(/;m=2\n/);
  });

  test("applies settings and schedules with cron, once, and says so in the log", async () => {
    const options = { consumers: [emails.consumer(() => {})] };
    const { service } = deployment(options);
    await service.cron();
    expect(lines.out).toEqual([{ declared: "emails", applied: true }]);
    expect(await operator().settings()).toMatchObject({ maxWorking: 20 });
    const schedules = new Schedules(emails, { transport: rig.transport });
    expect(await schedules.get("digest")).toMatchObject({ cron: "0 9 * * 1", payload: { to: "team" } });
    const before = requests.length;
    await service.cron();
    const asked = requests.length - before;
    await deployment({}).service.cron();
    // This instance has asked already, and asks no more.
    expect(requests.length - before - asked).toBe(asked);
    await deployment(options).service.cron();
    expect(lines.out).toHaveLength(1);
  });

  test("applies them also if cron is a request for a sweep", async () => {
    const CRON_SECRET = "a-secret-of-cron";
    const platform = { transport: () => rig.transport, budget: "10s", afterResponse: "none" } as const;
    const service = new Service<Env>({ ...env, CRON_SECRET } as Env, { queues: [emails] }, platform);
    const sweep = (secret: string) =>
      service.fetch(
        new Request("https://sluice.test/v1/sweep", { headers: { authorization: `Bearer ${secret}` } }),
      );
    expect((await sweep("another-secret-of-cron")).status).toBe(401);
    expect(await operator().settings()).toMatchObject({ maxWorking: null });
    expect((await sweep(CRON_SECRET)).status).toBe(200);
    expect(await operator().settings()).toMatchObject({ maxWorking: 20 });
  });

  test("asks again after ten minutes: the last of two deployments that stays wins", async () => {
    const clock = vi.spyOn(performance, "now");
    const { service } = deployment({ queues: [emails] });
    await service.cron();
    await deployment({ queues: [defineQueue("emails", { maxWorking: 3 })] }).service.cron();
    await service.cron();
    expect(await operator().settings()).toMatchObject({ maxWorking: 3 });
    const now = performance.now();
    clock.mockImplementation(() => now + 600_001);
    await service.cron();
    expect(await operator().settings()).toMatchObject({ maxWorking: 20 });
  });

  test("in a process connects the queues' own methods, which wake a consumer and do not wait for it", async () => {
    const seen: unknown[] = [];
    const own = defineQueue<string>("emails");
    let end = () => {};
    const handled = new Promise<void>((resolve) => (end = resolve));
    const consumer = own.consumer(async ({ payload }) => {
      seen.push(payload);
      await handled;
    });
    deployment({ consumers: [consumer] }, { afterResponse: "any", waitUntil: () => {} });
    const { id } = await own.enqueue("from elsewhere in the process");
    await vi.waitFor(() => expect(seen).toEqual(["from elsewhere in the process"]));
    expect(await own.get(id)).toMatchObject({ state: "working" });
    end();
    await vi.waitFor(async () => expect(await own.get(id)).toMatchObject({ state: "completed" }));
  });

  test("costs requests nothing", async () => {
    const { fetch } = deployment({
      queues: [emails],
      fetch: async (_, { queue }) => Response.json(await queue(emails).enqueue({ to: "a" })),
    });
    await fetch("/");
    await fetch("/");
    // The first enqueue in a minute registers the queue.
    expect(requests).toEqual([2, 1]);
    expect((await rig.space()).tasks.get("~declared")).toBeUndefined();
  });

  test("logs what cannot be applied, sweeps anyway, and tries again with the next cron", async () => {
    await rig.command("HSET", "sluice:{emails}:tasks", "~declared", "2;newer");
    await rig.queue({ now: undefined }).enqueue({ to: "a" }, { id: "a", delay: 1 });
    const { service } = deployment({ consumers: [emails.consumer(() => {})] });
    await service.cron();
    expect(lines.err).toMatchObject([{ declared: "emails", failed: { code: "newer_schema" } }]);
    expect(await rig.queue().get("a")).toMatchObject({ state: "completed" });
    await rig.command("HDEL", "sluice:{emails}:tasks", "~declared");
    await service.cron();
    expect(await operator().settings()).toMatchObject({ maxWorking: 20 });
  });
});

describe("the queues and consumers of a deployment are checked at its start", () => {
  const consumer = emails.consumer(() => {});
  const reports = defineQueue("reports");
  test.each<[string, object, string]>([
    [
      "two consumers",
      { consumers: [consumer, consumer] },
      "consumers[1] must be the only consumer of emails",
    ],
    ["no handler", { consumers: [{ ...consumer, handler: 1 }] }, "consumers[0] must have a handler"],
    [
      "a misspelt option",
      { consumers: [emails.consumer(() => {}, { concurency: 3 } as never)] },
      "consumers[0].concurency is an unknown option",
    ],
    [
      "what the deployment sets itself",
      { consumers: [emails.consumer(() => {}, { listen: () => {} } as never)] },
      "consumers[0].listen is an unknown option",
    ],
    [
      "the same by name",
      { consumers: { emails: { handler: () => {}, listen: () => {} } } },
      "consumers.emails.listen is an unknown option",
    ],
    ["a name", { queues: ["emails"] }, "queues[0] must be a queue that defineQueue made"],
    ["no queue", { consumers: [consumer], queues: [emails, null] }, "queues[1] must be a queue that"],
    [
      "a queue without its list",
      { queues: emails },
      "queues must be an array of queues that defineQueue made",
    ],
    [
      "a function",
      { consumers: [() => {}] },
      "consumers[0] must be the consumer of a queue that defineQueue",
    ],
    ["no consumer", { consumers: [consumer, null] }, "consumers[1] must be the consumer of a queue that"],
    [
      "nothing",
      { consumers: null },
      "consumers must be an array of consumers of declared queues, or an object",
    ],
    [
      "a consumer that is in no array",
      { consumers: consumer },
      "consumers must be an array of the consumers of",
    ],
    [
      "a declared queue's consumer by name",
      { consumers: { emails: consumer } },
      "consumers must be an array of the consumers of declared queues, as [emails.consumer(handler)]",
    ],
    [
      "a declared queue whose consumer is by name",
      { consumers: { emails: () => {} }, queues: [emails] },
      "queues[0] must not declare emails, which has a consumer by its name",
    ],
    [
      "a schedule that is none",
      { queues: [defineQueue("a", { schedules: { daily: 1 as never } })] },
      "a.schedules.daily must be an object",
    ],
    [
      "another declaration of the queue",
      { consumers: [consumer], queues: [reports, defineQueue("emails")] },
      "queues[1] must not declare emails a second time",
    ],
    [
      "a consumer of another declaration of the queue",
      { consumers: [consumer, defineQueue("emails").consumer(() => {})] },
      "consumers[1] must be the only consumer of emails",
    ],
    [
      "a schedule that cannot be read",
      { queues: [defineQueue("a", { schedules: { daily: { cron: "at nine", payload: 1 } } })] },
      "a.schedules.daily.cron must be a cron expression",
    ],
  ])("%s", (_, options, problem) => {
    const refused = expect.objectContaining({
      code: "invalid_argument",
      message: expect.stringContaining(problem),
      path: problem.split(" ")[0],
    });
    expect(() => deployment(options)).toThrow(refused);
  });
});

test("a consumer by the queue's name has the options of a declared queue's consumer", () => {
  expectTypeOf<Omit<ConsumerOptions, "handler" | "schema" | "encryption">>().toEqualTypeOf<WorkOptions>();
  expectTypeOf<ConsumerOptions>().not.toHaveProperty("listen");
});
