import { describe, expect, test, vi } from "vitest";
import { sluice } from "../../serverless/cloudflare.ts";
import { sluice as lambda } from "../../serverless/lambda.ts";
import { sluice as netlify } from "../../serverless/netlify.ts";
import { sluice as next } from "../../serverless/next.ts";
import { serve } from "../../serverless/node.ts";
import { schedules } from "../../src/open/schedules/index.ts";
import { sluice as vercel } from "../../serverless/vercel.ts";
import { defineQueue } from "../../src/index.ts";
import { loose } from "../support/refusing.ts";

test("a wrong configuration is named in the response and in the log, at every path", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const app = sluice({ consumers: { emails: () => {} }, fetch: () => new Response("mine") });
  const env = {
    UPSTASH_REDIS_REST_URL: "https://127.0.0.1:1",
    UPSTASH_REDIS_REST_TOKEN: "t0ken",
    SLUICE_TOKENS: "[s3cret",
  };
  const context = { waitUntil: () => {} } as never;
  for (const path of ["/health", "/v1/queues", "/mine"]) {
    const response = await app.fetch(new Request(`https://example.com${path}`), env, context);
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { code: "misconfigured", detail: "SLUICE_TOKENS must be JSON, such as `sluice token` prints." },
    ]);
  }
  const line = '{"misconfigured":"SLUICE_TOKENS must be JSON, such as `sluice token` prints"}';
  expect(log.mock.calls).toEqual([[line], [line], [line]]);
  log.mockRestore();
});

test("a deployment for Vercel Functions in a route of Next.js names the import that works below a path", async () => {
  vi.stubEnv("UPSTASH_REDIS_REST_URL", "https://127.0.0.1:1");
  vi.stubEnv("UPSTASH_REDIS_REST_TOKEN", "t0ken");
  const { GET, HEAD } = vercel();
  const detailOf = async (context?: { params: Promise<object> }) => {
    const response = await GET(new Request("https://example.com/api/queue/nothing"), context as never);
    const { code, detail = "" } = (await response.json()) as { code: string; detail?: string };
    expect([response.status, code]).toEqual([404, "no_route"]);
    return detail;
  };
  expect(await detailOf({ params: Promise.resolve({ path: ["nothing"] }) })).toContain('"sluice-queue/next"');
  expect(await detailOf()).not.toContain("sluice-queue/next");
  const head = new Request("https://example.com/api/queue/nothing", { method: "HEAD" });
  const response = await HEAD(head, { params: Promise.resolve({ path: ["nothing"] }) });
  expect([response.status, await response.text()]).toEqual([404, ""]);
  vi.unstubAllEnvs();
});

describe("what needs no environment is refused when sluice() is called", () => {
  const nightly = (schedule: object) => ({
    schedules,
    queues: [defineQueue("reports", loose({ schedules: { nightly: { payload: null, ...schedule } } }))],
  });
  test.each<[string, options: object, message: string]>([
    ["an unknown option", { dashbord: true }, "dashbord is an unknown option; expected one of consumers, "],
    ["a budget", { budget: "4 minutes" }, "budget must be a duration"],
    ["a logger", { logger: "warning" }, "logger must be "],
    ["alerts", { alerts: {} }, "alerts must be what defineAlerts"],
    [
      "an option of a consumer",
      { consumers: { emails: { handler: () => {}, concurency: 5 } } },
      "consumers.emails.concurency is an unknown option",
    ],
    [
      "a cron",
      nightly({ cron: "0 25 * * *" }),
      'reports.schedules.nightly.cron must be a cron expression: "25"',
    ],
    [
      "a time zone",
      nightly({ cron: "@daily", timeZone: "Mars" }),
      "reports.schedules.nightly.timeZone must be",
    ],
    [
      "an option of a schedule",
      nightly({ every: "1h", mised: "all" }),
      "reports.schedules.nightly.mised is an",
    ],
    ["a payload", nightly({ every: "1h", payload: () => {} }), "reports.schedules.nightly.payload "],
    [
      "a schedule that never occurs",
      nightly({ cron: "0 0 31 2 *", timeZone: "Europe/Berlin" }),
      "reports.schedules.nightly must occur at least once from now on",
    ],
  ])("%s", async (_, options, message) => {
    for (const deploy of [sluice, lambda, netlify, next, vercel]) {
      expect(() => deploy(loose(options))).toThrow(message);
    }
    await expect(serve(loose(options))).rejects.toThrow(message);
  });

  test("29 February and the last day of a month do occur", () => {
    for (const cron of ["0 0 29 2 *", "0 0 L * *", "30 2 31 3 *"]) {
      expect(() => sluice(loose(nightly({ cron, timeZone: "Europe/Berlin" })))).not.toThrow();
    }
  });
});
