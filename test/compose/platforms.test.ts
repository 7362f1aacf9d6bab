import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ServiceOptions } from "../../serverless/deployment/service.ts";
import { defineQueue } from "../../src/index.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import { QUEUE, useRig } from "../support/rig.ts";
import { type Deployed, platforms } from "./platforms.ts";

const rig = useRig();
const token = "a-token-of-the-tests-of-platforms";
let gateway: Gateway;
let deployed: Deployed | undefined;

beforeEach(async () => {
  // Another address for each test, because a process remembers by it what it has written.
  gateway = await startGateway({ redisUrl: rig.redis.url });
  vi.spyOn(console, "log").mockImplementation(() => {});
});
afterEach(async () => {
  await deployed?.stop();
  deployed = undefined;
  await gateway.close();
  vi.restoreAllMocks();
});

const environment = () => ({
  UPSTASH_REDIS_REST_URL: gateway.url,
  UPSTASH_REDIS_REST_TOKEN: gateway.token,
  SLUICE_TOKENS: JSON.stringify([{ token, scopes: ["enqueue", "consume", "admin"], queues: "*" }]),
  CRON_SECRET: "the-secret-of-the-cron-of-tests",
});

const tasks = Array.from({ length: 40 }, (_, i) => ({ payload: i, id: `t${i}` }));

describe.each(Object.entries(platforms))("a deployment on %s", (_, deploy) => {
  test("works on all partitions of a declared queue", async () => {
    const events = defineQueue<number>(QUEUE, { partitions: 4 });
    const done: number[] = [];
    const options: ServiceOptions = {
      consumers: [events.consumer(({ payload }) => void done.push(payload))],
      fetch: async (request, { queue }) => {
        if (new URL(request.url).pathname !== "/events") return undefined;
        return Response.json(await queue(events).enqueueMany(tasks));
      },
    };
    deployed = await deploy(options, environment());
    const response = await deployed.fetch(new Request("https://deployment.test/events", { method: "POST" }));
    expect(await response.json()).toEqual(tasks.map(({ id }) => ({ id, created: true })));
    const keys = Object.keys(await rig.keySpace());
    for (const partition of ["", "/1", "/2", "/3"])
      expect(keys).toContain(`sluice:{${QUEUE}${partition}}:tasks`);
    await deployed.cron();
    await expect.poll(() => done.length).toBe(40);
    expect(done.toSorted((a, b) => a - b)).toEqual(tasks.map(({ payload }) => payload));
  });
});
