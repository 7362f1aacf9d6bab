import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { expect, it, onTestFinished } from "vitest";
import { Queue } from "../../../src/index.ts";
import { freePort } from "../../../src/local/stack/port.ts";
import { startLocalWorker } from "../../../src/local/stack/worker.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { secrets } from "../../http/served.ts";
import { listening } from "../../support/listening.ts";
import { openPlace } from "../place.ts";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** A receiver that behaves as the path says. */
async function openReceiver() {
  const received: { path: string; headers: Record<string, string>; body: string }[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? "";
    received.push({ path, headers: request.headers as Record<string, string>, body: await text(request) });
    if (path === "/moved") response.writeHead(307, { location: "http://169.254.169.254/" }).end();
    else if (path === "/endless") {
      const more = () => {
        while (!response.destroyed && response.write("a".repeat(10_000))) {
          // The buffer has room.
        }
      };
      response.on("drain", more);
      more();
    } else if (path !== "/never") response.end("thanks");
  };
  const server = createServer((request, response) => void answer(request, response));
  const port = await listening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, url: `http://127.0.0.1:${port}` };
}

it("a Worker in workerd delivers signed requests, and no receiver holds it up", async () => {
  const place = await openPlace();
  onTestFinished(() => place.close());
  const { received, url } = await openReceiver();
  const transport = upstash(place.env);
  const queue = new Queue("deliveries", { transport });
  const groups = ["ok", "endless", "never", "moved"];
  await queue.enqueueMany(groups.map((group) => ({ payload: { to: group }, id: `event-1.${group}`, group })));

  // Its requests leave workerd as they are: those of the test harness follow redirects.
  const folder = mkdtempSync(join(tmpdir(), "sluice-test-"));
  const worker = await startLocalWorker({
    config: fileURLToPath(new URL("push.toml", import.meta.url)),
    port: await freePort(),
    bindings: { ...place.env, RECEIVER_URL: url, HOOK_SECRET: secret },
    folder: join(folder, "worker"),
    logFile: join(folder, "worker.log"),
    log: () => {},
  });
  try {
    // More than once, in case that the machine is so slow that a request ends with its time.
    const states = async () => {
      await fetch(`${worker.url}/v1/sweep`, { headers: { authorization: `Bearer ${secrets.cron}` } });
      const tasks = await Promise.all(groups.map((group) => queue.get(`event-1.${group}`)));
      return tasks.map((task) => task?.state);
    };
    const ended = ["completed", "completed", "delayed", "delayed"];
    await expect.poll(states, { timeout: 60_000, interval: 500 }).toEqual(ended);
  } finally {
    await worker.child.stop();
    rmSync(folder, { recursive: true, force: true });
  }

  for (const { path, headers, body } of received) {
    expect(headers["webhook-id"]).toBe(`event-1.${path.slice(1)}`);
    expect(new Webhook(secret).verify(body, headers)).toEqual({ to: path.slice(1) });
    expect(() => new SvixWebhook(secret).verify(body, headers)).not.toThrow();
  }
  const result = { status: 200, body: "thanks", truncated: false };
  expect(await queue.get("event-1.ok")).toMatchObject({ result });
  expect(await queue.get("event-1.endless")).toMatchObject({
    result: { body: "a".repeat(4_096), truncated: true },
  });
  expect(await queue.get("event-1.never")).toMatchObject({
    error: { message: "no response within 5000 ms" },
  });
  expect(await queue.get("event-1.moved")).toMatchObject({
    error: { message: "HTTP 307: redirects are not followed" },
  });
  const callbacks = await new Queue("results", { transport }).dequeue({ max: 10 });
  expect(callbacks.map(({ id }) => id).toSorted()).toEqual([
    "event-1.endless.callback",
    "event-1.ok.callback",
  ]);
});
