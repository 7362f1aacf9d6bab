import { spawn } from "node:child_process";
import { once } from "node:events";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Operator, Queue } from "../../src/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { numbered } from "../support/new-tasks.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";

// What is left of a queue whose processes a task kills. Its four attempts apart, all options are the defaults.

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const program = () => `
  import { serve } from ${JSON.stringify(new URL("../../serverless/node.ts", import.meta.url).href)};
  const handler = async ({ id }) => {
    if (id === "t2") setTimeout(() => process.exit(137), 100);
    await new Promise((resolve) => setTimeout(resolve, 300));
  };
  await serve({
    env: { REDIS_URL: ${JSON.stringify(redis.url)} },
    port: 0,
    hostname: "127.0.0.1",
    consumers: { work: handler, others: handler },
  });
`;

it("a task that kills its process ends alone as a dead letter", async () => {
  const transport = resp(redis.url);
  const client = await createClient({ url: redis.url }).connect();
  const queues = ["work", "others"].map((name) => new Queue<number>(name, { transport }));
  for (const queue of queues) await queue.enqueueMany(numbered(12).filter(({ id }) => id !== "t2"));
  await queues[0]?.enqueue(2, { id: "t2", maxAttempts: 4 });
  const left = async () => {
    const counts = await Promise.all(queues.map((queue) => queue.counts()));
    return counts.reduce((sum, { pending, working, delayed }) => sum + pending + working + delayed, 0);
  };

  let deaths = 0;
  for (;;) {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program()], { stdio: "ignore" });
    const exit = once(child, "exit").then(([code]) => code as number | null);
    while (child.exitCode === null && (await left()) > 0) {
      await Promise.race([exit, new Promise((resolve) => setTimeout(resolve, 50))]);
    }
    child.kill("SIGKILL");
    if ((await exit) !== 137) break;
    deaths++;
    // Five minutes pass: the leases of the dead process expire, and its consumers no longer count as awake.
    for (const { name } of queues) {
      const key = `sluice:{${name}}:working`;
      for (const id of await client.zRange(key, 0, -1)) await client.zAdd(key, { score: 1, value: id });
      await client.hDel(`sluice:{${name}}:tasks`, "~wake");
    }
  }

  expect(deaths).toBe(4);
  const dead = await Promise.all(
    queues.map(async ({ name }) => {
      const { tasks } = await new Operator(name, { transport }).list({ state: "rejected" });
      return tasks.map(({ id, reason, charged }) => ({ id, reason, charged }));
    }),
  );
  expect(dead).toEqual([[{ id: "t2", reason: "lease_expired", charged: 4 }], []]);
  client.destroy();
  await transport.close();
}, 120_000);
