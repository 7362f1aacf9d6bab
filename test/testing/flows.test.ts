import { expect, test } from "vitest";
import { defineQueue, NonRetryableError } from "../../src/index.ts";
import { flow } from "../../src/http/flows/index.ts";
import { sluice } from "../../serverless/vercel.ts";
import { sluice as cloudflare } from "../../serverless/cloudflare.ts";
import { testDeployment, testQueue, testTask } from "../../src/testing/index.ts";

const fetches = defineQueue<{ url: string }>("fetches");
const mails = defineQueue<{ to: string }>("mails");

test("a test of a queue works on flows, over several queues too", async () => {
  const test = testQueue(fetches);
  await flow(
    { ref: "mail", queue: fetches, payload: { url: "mail" }, after: ["a", "b"] },
    { ref: "a", queue: fetches, payload: { url: "a" } },
    { ref: "b", queue: fetches, payload: { url: "b" }, after: "a", delay: "1h" },
  );
  const seen: unknown[] = [];
  await test.workToEnd(async (task) => {
    seen.push(await task.before());
    return task.payload.url;
  });
  const a = { state: "completed", result: "a" };
  expect(seen).toEqual([{}, { a }, { a, b: { state: "completed", result: "b" } }]);
});

test("a handler is called with what became of the tasks before", async () => {
  const handler = mails.consumer(async (task) => (await task.before())["fetch"]?.result).handler;
  const task = testTask({ to: "" }, { before: { fetch: { state: "completed", result: 7 } } });
  expect(await handler(task, {}, {} as never)).toBe(7);
  const plain = testTask({});
  expect(await plain.before()).toEqual({});
  const items = [{ ref: "page", queue: fetches, payload: { url: "x" } }];
  expect(await plain.addBefore("mail", items)).toMatchObject({
    ok: true,
    tasks: { page: expect.any(String) },
  });
  expect(plain.additions).toEqual([{ ref: "mail", items }]);
  await expect(plain.addBefore("mail", [{ ...items[0]!, after: "x" }])).rejects.toThrow("no such ref");
});

const mailed: unknown[] = [];
const app = {
  consumers: [
    fetches.consumer(async ({ payload }) => payload.url.length),
    mails.consumer(async (task) => void mailed.push(await task.before())),
  ],
};
const chain = [
  { ref: "fetch", queue: fetches, payload: { url: "x" } },
  { ref: "mail", queue: mails, payload: { to: "a@example.com" }, after: "fetch" },
] as const;

test("in a deployment the end of a task wakes the consumer of the task that waits for it in another queue", async () => {
  const test = testDeployment(
    sluice({
      ...app,
      fetch: async (_, { queue }) => {
        const [first, second] = chain;
        return Response.json(
          await flow({ ...first, queue: queue(fetches) }, { ...second, queue: queue(mails) }),
        );
      },
    }),
  );
  mailed.length = 0;
  expect((await test.fetch("/")).status).toBe(200);
  expect(mailed).toEqual([{ fetch: { state: "completed", result: 1 } }]);
});

test("onDeadLetter gets the task that failed, and none of those that fell with it", async () => {
  const letters: unknown[] = [];
  const test = testDeployment(
    sluice({
      consumers: [
        fetches.consumer(() => {
          throw new NonRetryableError("no such file");
        }),
        mails.consumer(() => {}),
      ],
      onDeadLetter: ({ id, reason }) => letters.push([id, reason]),
    }),
  );
  const [first, second] = chain;
  const { tasks } = await flow(
    { ...first, queue: test.queue(fetches) },
    { ...second, queue: test.queue(mails) },
  );
  await test.runToEnd();
  expect(letters).toEqual([[tasks.fetch, "rejected"]]);
  expect(await test.deadLetters(mails)).toMatchObject([{ reason: "dependency_failed" }]);
});

test("a deployment without the part says how to turn it on", async () => {
  const errors: unknown[] = [];
  const test = testDeployment(cloudflare({ ...app, onFailure: ({ error }) => errors.push(error?.message) }));
  await test.queue(mails).enqueue({ to: "a@example.com" });
  await test.run();
  expect(errors).toEqual([expect.stringContaining('import { flows } from "sluice-queue/flows"')]);
});
