import { describe, expect, test } from "vitest";
import type { Platform } from "../../src/deploy/service.ts";
import { webhookWaker, type Transport } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";
import { SLUICE_WAKE_SECRET, useDeployments, wakeBinding } from "./deployments.ts";

// Which consumers a deployment wakes.
const rig = useRig();
const its = useDeployments(rig);

/** A deployment that enqueues to the queue in the path of a request. */
function deployment(platform: Partial<Platform>, consumers?: Record<string, () => unknown>) {
  const { call, ...rest } = its.deployment(
    {
      consumers,
      fetch: async (request, { queue }) =>
        Response.json(await queue(new URL(request.url).pathname.slice(1)).enqueue(1)),
    },
    { budget: "20s", afterResponse: "none", ...platform },
    { SLUICE_WAKE_SECRET },
  );
  const enqueue = async (queue: string) => expect((await call(`/${queue}`)).status).toBe(200);
  return { enqueue, ...rest };
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
  const { enqueue, ended } = deployment(platform, { emails: () => void done.push(1) });
  enqueueNow = () => enqueue("emails");
  await enqueue("emails");
  await ended();
  expect(done).toEqual([1, 1]);
});

test.each([
  ["an invocation", "bounded"],
  ["a long-running process", "any"],
] as const)("in %s, tasks start while the handler of another task runs", async (_, afterResponse) => {
  const begun: number[] = [];
  const { enqueue, ended } = deployment(
    { afterResponse },
    {
      async emails() {
        begun.push(begun.length);
        if (begun.length > 1) return;
        // The running drain finds this task; for the next ones it must be woken, or another drain must start.
        for (let count = 2; count <= 4; count++) {
          await enqueue("emails");
          while (begun.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
        }
      },
    },
  );
  await enqueue("emails");
  await ended();
  expect(begun).toEqual([0, 1, 2, 3]);
  expect(await its.queue().counts()).toMatchObject({ pending: 0, working: 0, delayed: 0 });
});

test("a deployment with consumers sends no wake for other queues; one without sends wakes for every queue", async () => {
  const { woken, wakeFetch } = wakeBinding();
  const done: number[] = [];
  const consuming = deployment({ wakeFetch, afterResponse: "bounded" }, { a: () => void done.push(1) });
  await consuming.enqueue("a");
  await consuming.enqueue("b");
  await consuming.ended();
  expect([done, woken]).toEqual([[1], []]);
  const producing = deployment({ wakeFetch });
  await producing.enqueue("c");
  await producing.ended();
  expect(woken).toEqual([{ queue: "c" }]);
});

test("a process that shuts down leaves its tasks to another process, which need not wait", async () => {
  const done: string[] = [];
  const processOf = (name: string, closing = new AbortController().signal) =>
    deployment({ afterResponse: "any", drains: { closing } }, { emails: () => void done.push(name) });
  const closing = processOf("closing", AbortSignal.abort());
  await closing.enqueue("emails");
  await closing.ended();
  expect(done).toEqual([]);
  await processOf("other").cron();
  expect(done).toEqual(["other"]);
});

describe("`/wake`", () => {
  const wake = async (queue: string, settings: Record<string, string> = { SLUICE_WAKE_SECRET }) => {
    const sent: Request[] = [];
    const fetch = async (request: Request) => (sent.push(request), new Response());
    const secret = SLUICE_WAKE_SECRET;
    await webhookWaker({ url: "https://sluice.test/wake", secret, fetch }).wake(queue);
    const worked: number[] = [];
    const consumers = { emails: () => void worked.push(1) };
    await its.queue().enqueue(1);
    const { service } = its.deployment({ consumers }, { afterResponse: "none" }, settings);
    const response = await service.fetch(sent[0] as Request);
    return { status: response.status, body: (await response.json()) as object, worked };
  };

  test.each([
    ["works on the queue that it names", "emails", undefined, 200, { completed: 1 }, [1]],
    [
      "is answered with 503 and the setting's name if the secret is not set",
      "emails",
      {},
      503,
      {
        code: "misconfigured",
        detail: "SLUICE_WAKE_SECRET is not set, so this server accepts no wakes.",
      },
      [],
    ],
  ])("that is signed %s", async (_, queue, settings, status, body, worked) => {
    expect(await wake(queue, settings)).toMatchObject({ status, body, worked });
  });
});
