import { describe, expect, test } from "vitest";
import { Service, type Platform } from "../../../serverless/deployment/service.ts";
import { type Transport, webhookWaker } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

// Which consumers a deployment wakes, in real time.
const rig = useRig();
const env = {
  UPSTASH_REDIS_REST_URL: "https://redis.test",
  UPSTASH_REDIS_REST_TOKEN: "unused",
  SLUICE_WAKE_SECRET: `whsec_${btoa("a secret of at least 24 bytes")}`,
};

/** A deployment that enqueues to the queue in the path of a request. */
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
  return { enqueue, after, cron: () => service.cron() };
}

test("in a long-running process, a task enqueued just after an empty drain is worked on at once", async () => {
  const done: number[] = [];
  let enqueueNow: (() => Promise<void>) | undefined;
  const transport: Transport = {
    async send(commands, options) {
      const outcomes = await rig.transport.send(commands, options);
      const last = commands.at(-1);
      if (done.length === 1 && last && "script" in last && /dequeue$/i.test(last.script.name)) {
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
  ["a long-running process", "any"],
] as const)("in %s, tasks start while the handler of another task runs", async (_, afterResponse) => {
  const begun: unknown[] = [];
  let enqueue = async (_queue: string): Promise<void> => {};
  const its = deployment(
    { afterResponse },
    {
      async emails() {
        begun.push(begun.length);
        if (begun.length > 1) return;
        // The running drain finds this task; for the next ones it must be woken, or another drain must start.
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

test("a deployment with consumers sends no wake for other queues; one without sends wakes for every queue", async () => {
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

test("a process that shuts down leaves its tasks to another process, which need not wait", async () => {
  const done: string[] = [];
  const processOf = (name: string, ending?: AbortSignal) =>
    deployment(
      { afterResponse: "any", ...(ending && { ending: { closing: ending } }) },
      { emails: () => void done.push(name) },
    );
  const closing = processOf("closing", AbortSignal.abort());
  await closing.enqueue("emails");
  await Promise.all(closing.after);
  expect(done).toEqual([]);
  await processOf("other").cron();
  expect(done).toEqual(["other"]);
});

describe("`/wake`", () => {
  const wake = async (queue: string, settings: object = env) => {
    const sent: Request[] = [];
    const fetch = async (request: Request) => (sent.push(request), new Response());
    const secret = env.SLUICE_WAKE_SECRET;
    await webhookWaker({ url: "https://sluice.test/wake", secret, fetch }).wake(queue);
    const worked: number[] = [];
    const platform = { transport: () => rig.transport, budget: "20s", afterResponse: "none" } as const;
    const consumers = { emails: () => void worked.push(1) };
    await rig.queue({ now: undefined }).enqueue(1);
    const response = await new Service(settings, { consumers }, platform).fetch(sent[0] as Request);
    return { status: response.status, body: (await response.json()) as object, worked };
  };

  test("works on the queue that a signed wake names", async () => {
    expect(await wake("emails")).toMatchObject({ status: 200, body: { completed: 1 }, worked: [1] });
  });

  test("answers 404 for a queue without a consumer", async () => {
    const body = { title: "Not a wake", status: 404, detail: "This queue has no consumer here." };
    expect(await wake("others")).toEqual({ status: 404, body, worked: [] });
  });

  test("answers 503 and names the setting if the secret is not set", async () => {
    const { SLUICE_WAKE_SECRET: _, ...settings } = env;
    expect(await wake("emails", settings)).toMatchObject({
      status: 503,
      body: {
        code: "misconfigured",
        detail: "SLUICE_WAKE_SECRET is not set, so this server accepts no wakes.",
      },
      worked: [],
    });
  });
});
