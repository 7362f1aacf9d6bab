import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import * as cloudflare from "../../serverless/cloudflare.ts";
import * as lambda from "../../serverless/lambda.ts";
import * as netlify from "../../serverless/netlify.ts";
import * as vercel from "../../serverless/vercel.ts";
import type { ServiceOptions } from "../../serverless/deployment/service.ts";
import { defineQueue } from "../../src/index.ts";
import { testDeployment } from "../../src/testing/index.ts";

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

const sent: string[] = [];
const options: ServiceOptions<Env> = {
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
  vi.spyOn(console, "log").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
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

  test("has what handlers enqueue by a declared queue's own methods", async () => {
    const next = defineQueue<string>("next", { transport: () => expect.fail("not in a test") });
    const first = defineQueue<string>("first");
    const app = testDeployment({
      consumers: [first.consumer(async ({ payload }) => void (await next.enqueue(`after ${payload}`)))],
      queues: [next],
    });
    await app.queue(first).enqueue("a");
    await app.run();
    expect(app.enqueued(next)).toMatchObject([{ payload: "after a" }]);
  });

  test("serves its HTTP interface, with a token and a client", async () => {
    const app = testDeployment(options, { env });
    expect((await app.fetch("/v1/queues")).status).toBe(401);
    const client = app.client().queue(emails);
    await client.enqueue({ to: "bob" }, { id: "b" });
    expect(sent).toEqual(["hello bob"]);
    expect(await client.get("b")).toMatchObject({ state: "completed" });
  });

  test("takes what is enqueued beside it with the next run", async () => {
    const app = testDeployment(options, { env });
    await app.queue(emails).enqueue({ to: "eve" });
    expect(sent).toEqual([]);
    await app.run();
    expect(sent).toEqual(["hello eve"]);
  });

  test.each([
    ["cloudflare", cloudflare.sluice(options)],
    ["vercel", vercel.sluice(options)],
    ["vercel's GET", vercel.sluice(options).GET],
    ["lambda", lambda.sluice(options)],
    ["netlify", netlify.sluice(options)],
    ["the options of serve", options],
  ])("is that of any platform: %s", async (_, given) => {
    const app = testDeployment(given, { env });
    await app.queue(emails).enqueue({ to: "ada" });
    await app.run();
    expect(sent).toEqual(["hello ada"]);
  });

  test("refuses wrong options as the deployment does", () => {
    expect(() => testDeployment({ consumer: {} })).toThrow("consumer is an unknown option");
    expect(() => testDeployment(options, { clock: 1 } as never)).toThrow("clock is an unknown option");
  });
});
