import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import * as cloudflare from "../../serverless/cloudflare.ts";
import * as lambda from "../../serverless/lambda.ts";
import * as netlify from "../../serverless/netlify.ts";
import * as next from "../../serverless/next.ts";
import * as vercel from "../../serverless/vercel.ts";
import type { ServiceOptions } from "../../serverless/cloudflare.ts";
import type { MountedDeployment } from "../../serverless/node.ts";
import { schedules } from "../../src/open/schedules/index.ts";
import { defineQueue, NonRetryableError, type Task } from "../../src/index.ts";
import { testDeployment, type TestDeployment } from "../../src/testing/index.ts";
import { consoleLines, quietFailures } from "../support/console-lines.ts";
import { encrypting, MARKER, shows } from "../support/encrypting.ts";

interface Env {
  readonly GREETING: string;
}

const emails = defineQueue("emails", {
  schema: z.object({ to: z.string() }),
  maxAttempts: 3,
  backoff: ["1m", "10m"],
  schedules: { digest: { cron: "0 9 * * 1", timeZone: "Europe/Berlin", payload: { to: "team" } } },
});
const reports = defineQueue<string>("reports");
const first = defineQueue<string>("first");

const sent: string[] = [];
const options: ServiceOptions<Env> = {
  schedules,
  consumers: [
    emails.consumer(({ payload, attempt }, { GREETING }: Env) => {
      if (payload.to === "down") throw new Error(`no answer ${attempt}`);
      sent.push(`${GREETING} ${payload.to}`);
    }),
  ],
  fetch: async (request, { queue }) => {
    const to = new URL(request.url).searchParams.get("to") ?? "";
    await queue(reports).enqueue(`mail to ${to}`, { delay: "1h" });
    return Response.json(await queue(emails).enqueue({ to }, { id: to }));
  },
};

beforeEach(() => {
  sent.length = 0;
  vi.spyOn(console, "info").mockImplementation(() => {});
  quietFailures();
});
afterEach(() => void vi.restoreAllMocks());

describe("a deployment in a test", () => {
  const env = { GREETING: "hello" };

  test("works on what a request enqueued before the request is over", async () => {
    const app = testDeployment(cloudflare.sluice(options), { env });
    const response = await app.fetch("/?to=ada");
    expect(await response.json()).toEqual({ id: "ada", created: true });
    expect(sent).toEqual(["hello ada"]);
    expect(await app.tasks(emails)).toMatchObject([{ id: "ada", state: "completed" }]);
    expect(app.enqueued(reports)).toMatchObject([{ payload: "mail to ada" }]);
  });

  test("tries again when the clock moves, until the dead letter", async () => {
    const app = testDeployment(cloudflare.sluice(options), { env });
    await app.fetch("/?to=down");
    expect(await app.tasks(emails, "delayed")).toMatchObject([{ attempt: 1, dueAt: app.now + 60_000 }]);
    await app.advance("1m");
    expect(await app.tasks(emails, "delayed")).toMatchObject([{ attempt: 2, dueAt: app.now + 600_000 }]);
    await app.runToEnd();
    expect(await app.deadLetters(emails)).toMatchObject([
      { id: "down", attempt: 3, payload: { to: "down" }, error: { message: "no answer 3" } },
    ]);
  });

  test("does not wait in real time for what is due soon", async () => {
    const soon = defineQueue("soon", { backoff: ["4s"] });
    const app = testDeployment({ consumers: [soon.consumer(() => Promise.reject(new Error("busy")))] });
    await app.queue(soon).enqueue(1);
    const timers = vi.spyOn(globalThis, "setTimeout");
    await app.run();
    const waits = timers.mock.calls.map(([, ms = 0]) => ms);
    expect(waits.filter((ms) => ms > 2_000 && ms < 5_000)).toEqual([]);
    expect(await app.tasks(soon)).toMatchObject([{ state: "delayed", attempt: 1 }]);
  });

  test("has all partitions of a declared queue by its name", async () => {
    const events = defineQueue<number>("events", { partitions: 4 });
    const app = testDeployment({ consumers: [events.consumer(() => {})] });
    const ids = Array.from({ length: 20 }, (_, i) => `t${i}`);
    const queue = app.queue<number>("events");
    for (const created of [true, false])
      for (const id of ids) expect(await queue.enqueue(0, { id })).toEqual({ id, created });
    expect(await app.queue(events).counts()).toMatchObject({ pending: 20 });
    await app.runToEnd();
    expect((await app.tasks("events", "completed")).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test("enqueues what schedules say, at their time", async () => {
    const monday = new Date("2026-11-23T07:30:00Z");
    const app = testDeployment(cloudflare.sluice(options), { env, now: monday });
    await app.advance("29m");
    expect(sent).toEqual([]);
    await app.advance("1m");
    expect(sent).toEqual(["hello team"]);
    await app.advance("7d");
    expect(sent).toEqual(["hello team", "hello team"]);
  });

  test("serves its HTTP interface, with a token and a client", async () => {
    const app = testDeployment(options, { env });
    expect((await app.fetch("/v1/queues")).status).toBe(401);
    const client = app.client().queue(emails);
    await client.enqueue({ to: "bob" }, { id: "b" });
    expect(sent).toEqual(["hello bob"]);
    expect(await client.get("b")).toMatchObject({ state: "completed" });
  });

  test.each([
    ["cloudflare", cloudflare.sluice(options)],
    ["vercel", vercel.sluice(options)],
    ["vercel's GET", vercel.sluice(options).GET],
    ["next", next.sluice(options)],
    ["next's handlers", next.sluice(options).handlers],
    ["lambda", lambda.sluice(options)],
    ["netlify", netlify.sluice(options)],
    ["the options of serve", options],
  ])("is that of any platform: %s", async (_, given) => {
    const app = testDeployment(given, { env });
    await app.queue(emails).enqueue({ to: "ada" });
    await app.run();
    expect(sent).toEqual(["hello ada"]);
  });

  test("gives routes of a server, which take its queue and schedules as an argument, those of the test", async () => {
    const routes = ({ queue, schedules }: Pick<MountedDeployment, "queue" | "schedules">) => ({
      signUp: (to: string) => queue(emails).enqueue({ to }),
      remind: (to: string) => schedules(emails).put("remind", { every: "1h", payload: { to } }),
    });
    const app = testDeployment(options, { env, now: Date.parse("2026-11-24T12:00Z") });
    const { signUp, remind } = routes(app.tools());
    await signUp("ada");
    await remind("bob");
    expect(sent).toEqual([]);
    await app.advance("1h");
    expect(sent).toEqual(["hello ada", "hello bob"]);
  });

  test("starts what a rate delays at its time while the clock moves", async () => {
    const calls = defineQueue<number>("calls", { rate: { most: 1, per: "10s" } });
    const app = testDeployment({ consumers: [calls.consumer(() => {})] });
    await app.queue(calls).enqueueMany([{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    await app.advance("12s");
    expect(await app.tasks(calls, "completed")).toHaveLength(2);
  });

  test("answers requests of its own handlers, and works on what they enqueue", async () => {
    const first = defineQueue<string>("first");
    const second = defineQueue<string>("second");
    const worked: string[] = [];
    const app: TestDeployment = testDeployment({
      consumers: [
        first.consumer(async ({ payload }) => {
          await app.client().queue(second).enqueue(`${payload} by the client`);
          worked.push(await (await app.fetch(`/add?${payload}`)).text());
        }),
        second.consumer(({ payload }) => void worked.push(payload)),
      ],
      fetch: async (request, { queue }) => {
        const { pathname, search } = new URL(request.url);
        if (pathname === "/relay") return app.fetch("/add?relayed");
        await queue(second).enqueue(search);
        return new Response("added");
      },
    });
    await app.queue(first).enqueue("task");
    await app.run();
    expect(worked.toSorted()).toEqual(["?task", "added", "task by the client"]);
    expect(await (await app.fetch("/relay")).text()).toBe("added");
    expect(worked).toContain("?relayed");
  });

  test.each([
    ["run", (app: TestDeployment) => app.run()],
    ["advance", (app: TestDeployment) => app.advance("1m")],
    ["runToEnd", (app: TestDeployment) => app.runToEnd()],
  ])("says that a handler cannot wait for itself: %s", async (name, call) => {
    const app: TestDeployment = testDeployment({
      fetch: async () => Response.json(await call(app).catch(({ message }: Error) => message)),
    });
    expect(await (await app.fetch("/")).json()).toBe(
      `${name} must not be called by a handler of the deployment: it would wait for that handler`,
    );
  });

  test("has the options of a queue's consumer also by name, and its tasks wait for the next run", async () => {
    const app = testDeployment(options, { env });
    await expect(app.queue("emails").enqueue({ to: 7 })).rejects.toMatchObject({ path: "payload.to" });
    await app.queue("emails").enqueue({ to: "ada" });
    expect(sent).toEqual([]);
    await app.run();
    expect(sent).toEqual(["hello ada"]);
  });

  test("reads and writes the encrypted tasks of a consumer by the name of its queue", async () => {
    const seen: unknown[] = [];
    const handler = ({ payload }: Task) => {
      seen.push(payload);
      throw new NonRetryableError("broken");
    };
    const app = testDeployment({ consumers: { vault: { handler, encryption: () => encrypting() } } });
    await app.queue("vault").enqueue({ card: MARKER });
    const outcomes = await app.transport.send([["HGETALL", "sluice:{vault}:tasks"]]);
    expect(JSON.stringify(outcomes)).toContain(app.enqueued("vault")[0]?.id);
    expect(shows(JSON.stringify(outcomes))).toBe(false);
    await app.run();
    expect(seen).toEqual([{ card: MARKER }]);
    expect(await app.deadLetters("vault")).toMatchObject([{ payload: { card: MARKER } }]);
  });

  test("says which declaration cannot be applied", async () => {
    const schedules = { daily: { every: "1d", payload: { to: 7 } } } as never;
    const broken = defineQueue("broken", { schema: z.object({ to: z.string() }), schedules });
    await expect(testDeployment({ queues: [broken] }).fetch("/")).rejects.toThrow(
      "broken.schedules.daily.payload.to must match the schema of the queue",
    );
  });

  test("refuses a name that no queue of it has", async () => {
    const app = testDeployment({ ...options, queues: [defineQueue("audit")] }, { env });
    const refusal = {
      code: "invalid_argument",
      path: "queue",
      message: 'queue must be one of emails, audit: the deployment has no "emials"',
    };
    await expect(app.tasks("emials")).rejects.toMatchObject(refusal);
    await expect(app.deadLetters("emials")).rejects.toMatchObject(refusal);
    expect(() => app.enqueued("emials")).toThrow(expect.objectContaining(refusal));
    expect(() => app.queue("emials")).toThrow(expect.objectContaining(refusal));
    expect(await app.tasks("audit")).toEqual([]);
    await expect(app.tasks("reports")).rejects.toThrow("the deployment has no");
    await app.fetch("/?to=ada");
    expect(app.enqueued("reports")).toHaveLength(1);
  });

  test("logs what failed, but not what was done", async () => {
    const app = testDeployment(options, { env });
    const lines = consoleLines("warn", "error");
    await app.queue(emails).enqueue({ to: "down" });
    await app.runToEnd();
    expect(vi.mocked(console.info).mock.calls).toEqual([]);
    expect(lines).toMatchObject([
      { queue: "emails", attempt: 1, failed: expect.stringContaining("no answer 1") },
      { queue: "emails", attempt: 2, failed: expect.stringContaining("no answer 2") },
      { queue: "emails", deadLetter: true },
    ]);
  });

  test("may have a prefix", async () => {
    const app = testDeployment(options, { env: { ...env, SLUICE_PREFIX: "tests" } });
    await app.queue(emails).enqueue({ to: "ada" }, { delay: "10m" });
    await emails.enqueue({ to: "down" });
    await app.fetch("/?to=eve");
    await app.advance("7d");
    expect(sent).toEqual(["hello eve", "hello ada", "hello team"]);
    expect(await app.deadLetters(emails)).toHaveLength(1);
    expect(app.enqueued(emails)).toHaveLength(3);
    const [outcome] = await app.transport.send([["KEYS", "*"]]);
    const keys = outcome && "reply" in outcome ? (outcome.reply as string[]) : [];
    expect(keys.filter((key) => !key.startsWith("tests:"))).toEqual([]);
  });

  test("sends no wakes to elsewhere", async () => {
    const fetched = vi.spyOn(globalThis, "fetch");
    const SLUICE_WAKE_SECRET = `whsec_${btoa("0123456789abcdef0123456789abcdef")}`;
    const wakes = { SLUICE_WAKE_SECRET, SLUICE_WAKE_URL: "https://sluice.example/wake" };
    const app = testDeployment(cloudflare.sluice({ consumers: [first.consumer(() => {})] }), { env: wakes });
    await app.fetch("/v1/queues");
    await app.queue(first).enqueue("a");
    await app.run();
    expect(await app.tasks(first)).toMatchObject([{ state: "completed" }]);
    expect(fetched).not.toHaveBeenCalled();
  });

  test("refuses wrong options as the deployment does", () => {
    expect(() => testDeployment({ consumer: {} } as never)).toThrow("consumer is an unknown option");
    expect(() => testDeployment(options, { clock: 1 } as never)).toThrow("clock is an unknown option");
  });
});
