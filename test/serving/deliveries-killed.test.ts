import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Queue } from "../../src/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { listening } from "../support/listening.ts";
import { numbered } from "../support/new-tasks.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const EVENTS = 60;
/** The requests, by their number, at which the process that sends is killed, before there is an answer or behind it. */
const KILLS = new Map<number, "before" | "after">([
  [5, "before"],
  [23, "after"],
  [41, "before"],
]);

const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/** A process that delivers. */
const program = (port: number) => `
  import { serve } from ${module("../../serverless/node.ts")};
  import { defineQueue } from ${module("../../src/index.ts")};
  import { push } from ${module("../../src/features/push/index.ts")};
  const deliveries = defineQueue("deliveries", { backoff: [1], lease: "5m" });
  const handler = push({ url: "http://127.0.0.1:${port}/hook", allowPrivate: ["127.0.0.1"] });
  await serve({
    env: { REDIS_URL: ${JSON.stringify(redis.url)} },
    port: 0,
    hostname: "127.0.0.1",
    consumers: [deliveries.consumer(handler)],
  });
`;

it("each event reaches a receiver that answers 2xx, and copies have its id, while processes are killed", async () => {
  let child: ChildProcess;
  let seen = 0;
  const bodies = new Map<string, Set<string>>();
  const taken = new Map<string, number>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const id = String(request.headers["webhook-id"]);
      bodies.set(id, (bodies.get(id) ?? new Set()).add(body));
      const number = ++seen;
      const kill = KILLS.get(number);
      if (kill === "before") child.kill("SIGKILL");
      // Some are refused, and of some the connection breaks.
      else if (number % 11 === 3) response.writeHead(500).end();
      else if (number % 11 === 7) request.socket.destroy();
      else {
        taken.set(id, (taken.get(id) ?? 0) + 1);
        response.writeHead(204).end();
        if (kill === "after") child.kill("SIGKILL");
      }
    });
  });
  const port = await listening(server);
  const transport = resp(redis.url);
  const client = await createClient({ url: redis.url }).connect();
  const queue = new Queue<number>("deliveries", { transport });
  const events = numbered(EVENTS);
  await queue.enqueueMany(events);
  const left = async () => {
    const { pending, working, delayed } = await queue.counts();
    return pending + working + delayed;
  };

  let deaths = 0;
  for (;;) {
    child = spawn(process.execPath, ["--input-type=module", "--eval", program(port)], { stdio: "ignore" });
    const exit = once(child, "exit").then(([, signal]) => signal as string | null);
    while (child.exitCode === null && child.signalCode === null && (await left()) > 0)
      await Promise.race([exit, new Promise((resolve) => setTimeout(resolve, 50))]);
    if (child.signalCode === null) {
      child.kill("SIGTERM");
      await exit;
      break;
    }
    deaths++;
    // Five minutes pass: the leases of the dead process expire, and its consumers no longer count as awake.
    const working = "sluice:{deliveries}:working";
    for (const id of await client.zRange(working, 0, -1)) await client.zAdd(working, { score: 1, value: id });
    await client.hDel("sluice:{deliveries}:tasks", "~wake");
  }

  expect(deaths).toBe(KILLS.size);
  expect([...taken.keys()].toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  expect(Object.fromEntries(bodies)).toEqual(
    Object.fromEntries(events.map(({ id, payload }) => [id, new Set([JSON.stringify(payload)])])),
  );
  const states = await Promise.all(events.map(async ({ id }) => (await queue.get(id))?.state));
  expect(new Set(states)).toEqual(new Set(["completed"]));
  client.destroy();
  await transport.close();
  server.closeAllConnections();
  server.close();
}, 120_000);
