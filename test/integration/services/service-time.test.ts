import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Service, type Platform, type ServiceOptions } from "../../../serverless/deployment/service.ts";
import type { Duration, Task, Transport } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

// How long consumers of a deployment run, in real time.
const rig = useRig();
const env = { UPSTASH_REDIS_REST_URL: "https://redis.test", UPSTASH_REDIS_REST_TOKEN: "t" };
const queue = () => rig.queue({ now: undefined });

type Consumers = NonNullable<ServiceOptions["consumers"]>;

/** A deployment that enqueues a task at each request. */
function deployment(consumers: Consumers, platform: Partial<Platform>) {
  const fetch: ServiceOptions["fetch"] = async (_, around) =>
    Response.json(await around.queue("emails").enqueue(1));
  const service = new Service(
    env,
    { consumers, fetch },
    { transport: () => rig.transport, budget: "10s", afterResponse: "bounded", ...platform },
  );
  const after: Promise<unknown>[] = [];
  const waitUntil = (promise: Promise<unknown>) => void after.push(promise);
  return {
    enqueue: () => service.fetch(new Request("https://sluice.test/"), waitUntil),
    cron: () => service.cron(undefined, waitUntil),
    /** Waits for the consumers that have started. */
    ended: () => Promise.all(after),
  };
}

/** A consumer that fails on a task's first attempt. */
const failsOnce = (backoff: Duration) => {
  const attempts: number[] = [];
  const handler = ({ attempt }: Task<never>) => {
    attempts.push(attempt);
    if (attempt === 1) throw new Error("once");
  };
  return { attempts, consumers: { emails: { backoff: [backoff], handler } } };
};

beforeEach(() => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => void vi.restoreAllMocks());

test("a task that is due soon is worked on in the same invocation, without cron", async () => {
  const { attempts, consumers } = failsOnce("300ms");
  const its = deployment(consumers, {});
  await its.enqueue();
  await its.ended();
  expect(attempts).toEqual([1, 2]);
});

test("a long-running process continues if the time of one drain is over and tasks are left", async () => {
  const done = new Set<string>();
  const handler = async ({ id }: Task<never>) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    done.add(id);
  };
  const emails = { concurrency: 1, handler };
  const its = deployment({ emails }, { afterResponse: "any", budget: "1s" });
  await queue().enqueueMany(Array.from({ length: 5 }, () => ({ payload: 1 })));
  await its.enqueue();
  await its.ended();
  expect([done.size, await queue().counts()]).toMatchObject([6, { pending: 0, working: 0, delayed: 0 }]);
});

describe("an invocation", () => {
  test("does not wait for a task for which too little of its time would be left", async () => {
    const { attempts, consumers } = failsOnce("1500ms");
    const its = deployment(consumers, { budget: "3s" });
    await its.enqueue();
    await its.ended();
    expect(attempts).toEqual([1]);
  });

  test("whose clock is ahead of Redis looks only once more for a task that it takes for due", async () => {
    let requests = 0;
    const transport: Transport = {
      send(commands, options) {
        requests++;
        return rig.transport.send(commands, options);
      },
    };
    const { attempts, consumers } = failsOnce("30s");
    const its = deployment(consumers, { transport: () => transport });
    const now = Date.now.bind(Date);
    vi.spyOn(Date, "now").mockImplementation(() => now() + 60_000);
    await its.enqueue();
    await its.ended();
    expect(attempts).toEqual([1]);
    // About six; repeated dequeues would make thousands.
    expect(requests).toBeLessThan(50);
  });
});
