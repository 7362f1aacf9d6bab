import { expect, test } from "vitest";
import { Service, type Platform } from "../../serverless/service.ts";
import type { Transport } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";

// Real time, and whom a deployment wakes.
const rig = useRig();
const env = {
  UPSTASH_REDIS_REST_URL: "https://redis.test",
  UPSTASH_REDIS_REST_TOKEN: "not used",
  SLUICE_WAKE_SECRET: `whsec_${btoa("a secret of at least 24 bytes")}`,
};

/** A deployment that enqueues to the queue that a path names. */
function deployment(platform: Partial<Platform>, consumers?: Record<string, () => unknown>) {
  const service = new Service(
    env,
    {
      consumers,
      fetch: async (request, { queue }) =>
        Response.json(await queue(new URL(request.url).pathname.slice(1)).enqueue(1)),
    },
    { transport: () => rig.transport, budget: "20s", afterResponse: "none", ...platform },
  );
  const after: Promise<unknown>[] = [];
  const enqueue = async (queue: string) => {
    const request = new Request(`https://sluice.test/${queue}`);
    expect((await service.fetch(request, (promise) => after.push(promise))).status).toBe(200);
  };
  return { enqueue, after };
}

test("in a process that lives on, a task that comes when a drain has just found nothing is worked on at once", async () => {
  const done: number[] = [];
  let enqueueNow: (() => Promise<void>) | undefined;
  const transport: Transport = {
    async send(commands, options) {
      const outcomes = await rig.transport.send(commands, options);
      const last = commands.at(-1);
      if (done.length === 1 && last && "script" in last && last.script.name === "dequeue") {
        const enqueueOnce = enqueueNow;
        enqueueNow = undefined;
        await enqueueOnce?.();
      }
      return outcomes;
    },
  };
  const platform: Partial<Platform> = { transport: () => transport, afterResponse: "any" };
  const { enqueue, after } = deployment(platform, { emails: () => void done.push(1) });
  enqueueNow = () => enqueue("emails");
  await enqueue("emails");
  await Promise.all(after);
  expect(done).toEqual([1, 1]);
});

test.each([
  ["an invocation", "bounded"],
  ["a process that lives on", "any"],
] as const)("in %s, tasks begin while the handler of another goes on", async (_, afterResponse) => {
  const begun: unknown[] = [];
  let enqueue = async (_queue: string): Promise<void> => {};
  const its = deployment(
    { afterResponse },
    {
      async emails() {
        begun.push(begun.length);
        if (begun.length > 1) return;
        // Who is awake finds this one; of the next ones the drain has to be told, or another one begins.
        for (let count = 2; count <= 4; count++) {
          await enqueue("emails");
          await expect.poll(() => begun.length, { timeout: 5_000 }).toBe(count);
        }
      },
    },
  );
  enqueue = its.enqueue;
  await enqueue("emails");
  for (let i = 0; i < its.after.length; i++) await its.after[i];
  expect(begun).toEqual([0, 1, 2, 3]);
  expect(await rig.queue({ now: undefined }).counts()).toMatchObject({ pending: 0, working: 0, delayed: 0 });
});

test("a deployment with consumers wakes nobody for the queues of others; one without wakes for any", async () => {
  const woken: unknown[] = [];
  const wakeFetch = async (request: Request) => {
    woken.push(((await request.json()) as { data: unknown }).data);
    return new Response(null, { status: 202 });
  };
  const done: number[] = [];
  const consuming = deployment({ wakeFetch }, { a: () => void done.push(1) });
  await consuming.enqueue("a");
  await consuming.enqueue("b");
  await Promise.all(consuming.after);
  expect([done, woken]).toEqual([[1], []]);
  const producing = deployment({ wakeFetch });
  await producing.enqueue("c");
  await Promise.all(producing.after);
  expect(woken).toEqual([{ queue: "c" }]);
});
