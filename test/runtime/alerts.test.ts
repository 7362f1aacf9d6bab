import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { serve } from "../../serverless/node.ts";
import { Queue } from "../../src/index.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { openPlace } from "./acceptance.ts";
import { alerts, type AlertEnv } from "./alerting-deployment.ts";
import { startWorker } from "./cloudflare/workerd.ts";

interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

let place: Awaited<ReturnType<typeof openPlace>>;
let receiver: Server;
let received: Received[];
let env: typeof place.env & AlertEnv;
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const path = request.url ?? "";
      received.push({ path, headers: request.headers as Record<string, string>, body });
      response.writeHead(path === "/moved" ? 307 : 204, { location: "/elsewhere" }).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
});
afterAll(() => void receiver.close());
beforeEach(async () => {
  received = [];
  place = await openPlace();
  const { port } = receiver.address() as AddressInfo;
  env = { ...place.env, RECEIVER_URL: `http://127.0.0.1:${port}`, ALERT_SECRET: secret };
  await new Queue("emails", { transport: upstash(place.env) }).enqueue(1);
});
afterEach(() => place.close());

function expectAlert() {
  // A redirect that is not followed is a failure, which may be tried again.
  const paths = new Set(received.map(({ path }) => path));
  expect([...paths].toSorted()).toEqual(["/moved", "/slack", "/webhook"]);
  const of = (path: string) => received.find((one) => one.path === path) as Received;
  const { body, headers } = of("/webhook");
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({
    type: "alert.firing",
    data: { rule: "waiting", queue: "emails", value: 1 },
  });
  expect(JSON.parse(of("/slack").body)).toMatchObject({
    text: "emails has 1 task pending; the limit is 0",
  });
}

it("a Worker's cron in workerd sends signed webhooks and messages to Slack, and follows no redirect", async () => {
  const { server, cron } = await startWorker("test/runtime/cloudflare/alerts.toml", env);
  try {
    await cron();
    expectAlert();
  } finally {
    await server.close();
  }
});

it("a server of Node does the same", async () => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => errors.mockRestore());
  const server = await serve({ alerts, env, port: 0, hostname: "127.0.0.1", signals: false });
  try {
    await expect.poll(() => received.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
    expectAlert();
  } finally {
    await server.close();
  }
});
