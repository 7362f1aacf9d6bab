import { expect, test, vi } from "vitest";
import { sluice } from "../../serverless/cloudflare.ts";

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
