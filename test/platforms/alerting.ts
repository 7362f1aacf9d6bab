import { Webhook } from "standardwebhooks";
import { expect, onTestFinished } from "vitest";
import { listen } from "../../src/deploy/process/node-listener.ts";
import { Queue } from "../../src/index.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { openPlace } from "./place.ts";
import type { AlertEnv } from "./alerting-deployment.ts";

interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** A server that receives alerts. It redirects what is sent to /moved. */
async function openReceiver() {
  const received: Received[] = [];
  const answer = async (request: Request) => {
    const { pathname: path } = new URL(request.url);
    received.push({ path, headers: Object.fromEntries(request.headers), body: await request.text() });
    return new Response(null, { status: path === "/moved" ? 307 : 204, headers: { location: "/elsewhere" } });
  };
  const { port, stop } = await listen(answer, { port: 0, hostname: "127.0.0.1" });
  onTestFinished(async () => void (await stop()));
  return { received, url: `http://127.0.0.1:${port}` };
}

/**
 * Expects a signed webhook, a message to Slack, and that no redirect is followed.
 * @param deploy deploys `alerting-deployment.ts`, and runs its cron once or more
 */
export async function expectAlerts(
  deploy: (env: Readonly<Record<string, string>> & AlertEnv) => Promise<{ stop(): Promise<unknown> }>,
): Promise<void> {
  const place = await openPlace();
  onTestFinished(() => place.close());
  const { received, url } = await openReceiver();
  await new Queue("emails", { transport: upstash(place.env) }).enqueue(1);
  const deployed = await deploy({ ...place.env, RECEIVER_URL: url, ALERT_SECRET: secret });
  try {
    // A redirect that is not followed is a failure, which may be tried again.
    const paths = () => [...new Set(received.map(({ path }) => path))].toSorted();
    await expect.poll(paths, { timeout: 20_000 }).toEqual(["/moved", "/slack", "/webhook"]);
  } finally {
    await deployed.stop();
  }
  const of = (path: string) => received.find((one) => one.path === path) as Received;
  const { body, headers } = of("/webhook");
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({
    type: "alert.firing",
    data: { rule: "waiting", queue: "emails", value: 1 },
  });
  expect(JSON.parse(of("/slack").body)).toMatchObject({
    text: "emails has 1 task pending; the limit is 0",
  });
  expect(received.map(({ path }) => path)).not.toContain("/elsewhere");
}
