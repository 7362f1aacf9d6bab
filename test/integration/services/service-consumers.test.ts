import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { consumer } from "../../../serverless/deployment/consumer.ts";
import { Service, type Platform, type ServiceOptions } from "../../../serverless/deployment/service.ts";
import { sluice } from "../../../serverless/cloudflare.ts";
import { Schedules, type Task, type Transport } from "../../../src/index.ts";
import { encrypting, KEYS } from "../../support/encrypting.ts";
import { many } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

// Consumers of a deployment, in real time.
const rig = useRig();

interface Env {
  readonly MAIL_URL: string;
}

const env = { UPSTASH_REDIS_REST_URL: "https://redis.test", UPSTASH_REDIS_REST_TOKEN: "t", MAIL_URL: "m" };
const queue = () => rig.queue({ now: undefined });

function deployment(options: ServiceOptions<Env>, platform: Partial<Platform> = {}) {
  const transport = () => rig.transport;
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

/** Waits until that time has passed. */
async function past(instant: number | null) {
  while (Date.now() <= (instant ?? 0)) await sleep(10);
}

let lines: { out: unknown[]; err: unknown[] };
beforeEach(() => {
  lines = { out: [], err: [] };
  vi.spyOn(console, "log").mockImplementation((line) => lines.out.push(JSON.parse(String(line))));
  vi.spyOn(console, "error").mockImplementation((line) => lines.err.push(JSON.parse(String(line))));
});
afterEach(() => void vi.restoreAllMocks());

describe("a consumer", () => {
  test("gets what its schema makes of a payload, with its type, and the environment", async () => {
    const seen: unknown[] = [];
    const mails = consumer({
      schema: z.object({ to: z.string(), times: z.number().default(1) }),
      concurrency: 2,
      handler: ({ payload }, { MAIL_URL }: Env) => {
        expectTypeOf(payload).toEqualTypeOf<{ to: string; times: number }>();
        seen.push([payload, MAIL_URL]);
      },
    });
    const { service } = deployment({ consumers: { emails: mails } });
    await queue().enqueueMany([{ payload: { to: "a" } }, { payload: 7, id: "misfit" }]);
    await service.cron();
    expect(seen).toEqual([[{ to: "a", times: 1 }, "m"]]);
    expect(await queue().get("misfit")).toMatchObject({ state: "rejected", error: { name: "SchemaError" } });
  });

  test("decrypts with keys of the environment what the deployment's request handler and schedules encrypt", async () => {
    const seen: unknown[] = [];
    const encryption = ({ MAIL_URL }: Env) => encrypting({ current: MAIL_URL, keys: { m: KEYS.old } });
    let due = 0;
    const { service, fetch, after } = deployment({
      consumers: { emails: { encryption, handler: ({ payload }: Task) => void seen.push(payload) } },
      async fetch(_, around) {
        const options = { encryption: encryption(around.env) };
        const often = { every: "1s", payload: "scheduled" } as const;
        due = (await around.schedules("emails", options).put("x", often)).nextAt ?? 0;
        return Response.json(await around.queue("emails", options).enqueue("enqueued", { id: "a" }));
      },
    });
    expect((await fetch("/signup")).status).toBe(200);
    await Promise.all(after);
    expect(await queue().get("a")).toMatchObject({ state: "completed" });
    await past(due);
    await service.cron();
    expect(seen).toEqual(["enqueued", "scheduled"]);
  });

  test("may be a handler with its own payload type, with an interface as environment", () => {
    const send = ({ payload }: Task<{ to: string }>, { MAIL_URL }: Env) => `${MAIL_URL} ${payload.to}`;
    expectTypeOf(sluice<Env>).toBeCallableWith({ consumers: { emails: send } });
    const schema = z.object({ to: z.string() });
    expectTypeOf(sluice<Env>).toBeCallableWith({ consumers: { emails: { schema, handler: send } } });
  });

  test("is checked when the deployment starts", () => {
    const wrong = (consumers: object, more = {}) => {
      try {
        deployment({ consumers, ...more } as ServiceOptions<Env>);
        return undefined;
      } catch (error) {
        return (error as Error).message;
      }
    };
    const handler = () => {};
    expect(wrong({ emails: {} })).toBe(
      "consumers.emails must be a function, or an object with a function `handler`",
    );
    expect(wrong({ emails: null })).toBe("consumers.emails must be an object");
    expect(wrong({ emails: { handler, concurency: 3 } })).toMatch(
      /^consumers\.emails\.concurency is an unknown option; expected one of handler, schema, encryption, batch, /,
    );
    expect(wrong({ emails: { handler, concurrency: 5_000 } })).toMatch(
      /^consumers\.emails\.concurrency must be/,
    );
    expect(wrong({ emails: { handler, schema: {} } })).toMatch(
      /^consumers\.emails\.schema must be a Standard Schema/,
    );
    expect(wrong({ emails: { handler, encryption: {} } })).toBe(
      "consumers.emails.encryption must be a function that takes the environment",
    );
    expect(wrong({ emails: { handler, encryption: () => undefined } })).toMatch(
      /^consumers\.emails\.encryption\(\) must be made by encryption\(\)/,
    );
    expect(wrong({ "bad name": handler })).toMatch(/^consumers\.bad name must be 1 to 128 of/);
    expect(wrong({}, { onDeadLetter: "slack" })).toBe("onDeadLetter must be a function");
    expect(wrong({}, { consumer: {} })).toMatch(
      /^consumer is an unknown option; expected one of consumers, queues, dashboard, fetch, onDeadLetter, onFailure, tracing, offload, alerts, budget, requests$/,
    );
  });

  test("that fails logs the cause without the payload, and each drain logs what it did", async () => {
    const { service } = deployment({
      consumers: {
        emails: ({ payload }: Task<string>) => {
          if (payload === "secret") throw new TypeError("fetch failed", { cause: new Error("no route") });
        },
      },
    });
    await queue().enqueueMany([{ payload: "fine" }, { payload: "secret", id: "x", maxAttempts: 1 }]);
    await service.cron();
    const error = "TypeError: fetch failed (no route)";
    expect(lines.err).toEqual([
      {
        queue: "emails",
        task: "x",
        deadLetter: true,
        reason: "attempts_exhausted",
        attempts: 1,
        error,
        stack: expect.stringMatching(/\n +at /) as string,
      },
    ]);
    expect(lines.out).toMatchObject([{ drain: "emails", completed: 1, rejected: 1, ended: "empty" }]);
    expect(await queue().get("x")).toMatchObject({
      error: { name: "TypeError", message: "fetch failed", cause: "no route" },
    });
  });
});

describe("cron's sweep", () => {
  const cron = () => deployment({}).service.cron();

  test("logs nothing if it moved nothing", async () => {
    await queue().enqueue(1);
    await cron();
    expect(lines).toEqual({ out: [], err: [] });
  });

  test.each([
    [
      "promoted",
      { promoted: 1, scheduled: 0 },
      async () => {
        await queue().enqueue(1, { delay: "1ms" });
        return Date.now() + 1;
      },
    ],
    [
      "enqueued by a schedule",
      { promoted: 0, scheduled: 1 },
      async () => {
        const schedules = new Schedules("emails", { transport: rig.transport });
        return (await schedules.put("often", { every: "1s", payload: 1 })).nextAt;
      },
    ],
  ])("logs a task that it has %s", async (_, moved, prepare) => {
    await past(await prepare());
    await cron();
    expect(lines).toEqual({ out: [{ sweep: expect.objectContaining({ ...moved, failed: [] }) }], err: [] });
  });

  test("over HTTP takes two fifths of an invocation's time by default", async () => {
    await queue().enqueueMany(many(900, { delay: "1ms" }));
    await queue().enqueueMany(many(900, { delay: "1ms" }));
    let spent = 0;
    vi.spyOn(performance, "now").mockImplementation(() => spent);
    const transport: Transport = {
      async send(commands, options) {
        spent += 250;
        return rig.transport.send(commands, options);
      },
    };
    const CRON_SECRET = "a-secret-of-cron";
    const swept = async (budget: "1s" | "10s") => {
      const platform = { transport: () => transport, budget, afterResponse: "none" } as const;
      const authorization = `Bearer ${CRON_SECRET}`;
      const request = new Request("https://sluice.test/v1/sweep", { headers: { authorization } });
      return (await new Service({ ...env, CRON_SECRET }, {}, platform).fetch(request)).json();
    };
    // Two requests take all of its time, and the second one promotes a thousand tasks.
    expect(await swept("1s")).toMatchObject({ promoted: 1_000, more: true });
    expect(await swept("10s")).toMatchObject({ promoted: 800, more: false });
  });

  test("logs an error if it could not sweep a queue", async () => {
    await queue().enqueue(1);
    await rig.command("SET", "sluice:{emails}:delayed", "no zset");
    await cron();
    const failed = [{ queue: "emails", code: "redis_error" }];
    expect(lines).toEqual({ out: [], err: [{ sweep: expect.objectContaining({ failed }) }] });
    await rig.command("DEL", "sluice:{emails}:delayed");
  });
});

describe("the deployment's request handler", () => {
  test("may return nothing, which is answered like a deployment without a handler", async () => {
    const { fetch } = deployment({ fetch: async () => undefined });
    const [answer, none] = [await fetch("/elsewhere"), await deployment({}).fetch("/elsewhere")];
    expect([answer.status, none.status]).toEqual([none.status, 404]);
    expect(await answer.json()).toEqual(await none.json());
  });

  test("can use the queue's schedules", async () => {
    const { fetch } = deployment({
      fetch: async (_, { schedules }) =>
        Response.json(await schedules("emails").put("daily", { every: "1d", payload: 1 })),
    });
    expect(await (await fetch("/")).json()).toMatchObject({ name: "daily", created: true });
  });
});

test("a binding to the consumer without a secret throws at once", () => {
  const wakeFetch = async () => new Response();
  expect(() => deployment({}, { wakeFetch })).toThrow("SLUICE_WAKE_SECRET must be set, because the binding");
});
