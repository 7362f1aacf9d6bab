import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startWorker } from "../../../tools/workerd/harness.ts";
import { Queue } from "../../../src/index.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { asker } from "../../http/served.ts";
import { openMailServer, openPlace } from "../place.ts";

// The Workers that README.md and docs/library/README.md show.

let place: Awaited<ReturnType<typeof openPlace>>;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place.close());

test("the README's Worker works on what its fetch enqueues", async () => {
  const secrets = { ...place.env, SLUICE_PREFIX: "quick-start" };
  const { server, fetch } = await startWorker("examples/quick-start/wrangler.toml", secrets);
  onTestFinished(() => server.close());
  const ask = asker(fetch);
  const { status, body } = await ask("GET", "/signup?to=ada@example.com", { as: null });
  expect([status, body.created]).toEqual([200, true]);
  expect((await ask("GET", "/favicon.ico", { as: null })).status).toBe(404);
  const emails = new Queue("emails", { transport: upstash(place.env), prefix: "quick-start" });
  expect(await emails.wait(body.id, { for: "20s" })).toMatchObject({ state: "completed", attempt: 1 });
});

test("the Worker of the library's first use sends each mail once, and again the one that failed", async () => {
  const mailServer = await openMailServer();
  onTestFinished(() => mailServer.close());
  const secrets = { ...place.env, MAIL_URL: mailServer.url };
  const { server, fetch, cron } = await startWorker("examples/first-use/wrangler.toml", secrets);
  onTestFinished(() => server.close());
  const signUp = async (to: string) => (await fetch(new Request(`https://first.test/?to=${to}`))).status;
  expect([
    await signUp("a@example.com"),
    await signUp("b@example.com"),
    await signUp("a@example.com"),
  ]).toEqual([201, 201, 200]);
  expect(await cron()).toMatchObject({ outcome: "ok" });
  // The failed one is due again in two seconds.
  const sent = async () => (await cron(), mailServer.mails());
  await expect.poll(sent, { timeout: 60_000, interval: 250 }).toHaveLength(3);
  expect(await sent()).toEqual([
    { key: "welcome-a%40example.com", to: "a@example.com", status: 202 },
    { key: "welcome-b%40example.com", to: "b@example.com", status: 503 },
    { key: "welcome-b%40example.com", to: "b@example.com", status: 202 },
  ]);
});
