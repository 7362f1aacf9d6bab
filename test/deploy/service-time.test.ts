import { describe, expect, test, vi } from "vitest";
import type { Platform, ServiceOptions } from "../../src/deploy/service.ts";
import type { Duration, Task } from "../../src/index.ts";
import { many } from "../support/new-tasks.ts";
import { recorded } from "../support/recorded.ts";
import { useRig } from "../support/rig.ts";
import { useDeployments } from "./deployments.ts";

// How long consumers of a deployment run.
const rig = useRig();
const { queue, deployment } = useDeployments(rig);

/** Lets a deployment enqueue a task at a request, and waits for the consumers that have started. */
async function enqueueAt(consumers: ServiceOptions["consumers"], platform: Partial<Platform> = {}) {
  const fetch: ServiceOptions["fetch"] = async (_, around) =>
    Response.json(await around.queue("emails").enqueue(1));
  const { call, ended } = deployment({ consumers, fetch }, platform);
  await call();
  await ended();
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

test("a task that is due soon is worked on in the same invocation, without cron", async () => {
  const { attempts, consumers } = failsOnce("300ms");
  await enqueueAt(consumers);
  expect(attempts).toEqual([1, 2]);
});

test("a long-running process continues if the time of one drain is over and tasks are left", async () => {
  const done = new Set<string>();
  const handler = async ({ id }: Task<never>) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    done.add(id);
  };
  await queue().enqueueMany(many(5));
  await enqueueAt({ emails: { concurrency: 1, handler } }, { afterResponse: "any", budget: "1s" });
  expect([done.size, await queue().counts()]).toMatchObject([6, { pending: 0, working: 0, delayed: 0 }]);
});

describe("an invocation", () => {
  test("does not wait for a task for which too little of its time would be left", async () => {
    const { attempts, consumers } = failsOnce("1500ms");
    await enqueueAt(consumers, { budget: "3s" });
    expect(attempts).toEqual([1]);
  });

  test("whose clock is ahead of Redis looks only once more for a task that it takes for due", async () => {
    const { transport, requests } = recorded(rig);
    const { attempts, consumers } = failsOnce("30s");
    vi.spyOn(Date, "now").mockImplementation(() => rig.now + 60_000);
    await enqueueAt(consumers, { transport: () => transport });
    expect(attempts).toEqual([1]);
    // About six; repeated dequeues would make thousands.
    expect(requests.length).toBeLessThan(50);
  });
});
