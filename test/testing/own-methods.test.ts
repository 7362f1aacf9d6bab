import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as cloudflare from "../../serverless/cloudflare.ts";
import { defineQueue, type QueueDeclaration } from "../../src/index.ts";
import { defineTopic, type TopicDeclaration, topics } from "../../src/http/topics/index.ts";
import { offload } from "../../src/features/offload/index.ts";
import { memoryStore, testDeployment, testTask } from "../../src/testing/index.ts";

// What the own methods of declared queues and topics, such as `next.enqueue(…)`, do in a test of a deployment.

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** A deployment whose consumer of "first" enqueues to "next", which has a consumer too. */
function deployment(declaration: QueueDeclaration<string> = {}) {
  const done: string[] = [];
  const next = defineQueue<string>("next", declaration);
  const first = defineQueue<string>("first", { maxAttempts: 1 });
  const consumers = [
    first.consumer(async ({ payload }) => void (await next.enqueue(`after ${payload}`))),
    next.consumer(({ payload }) => void done.push(payload)),
  ];
  return { done, next, first, options: { consumers } };
}
const declared = { transport: () => expect.fail("not in a test") };

test("in a test of a server, which connects them, they reach the test's database and wake the consumer", async () => {
  const { done, next, first, options } = deployment();
  const app = testDeployment(options);
  await next.enqueue("by the test");
  expect(await app.tasks(next, "pending")).toHaveLength(1);
  // What the test enqueues waits for the next run.
  expect(done).toEqual([]);
  await app.queue(first).enqueue("a");
  await app.run();
  expect(done).toEqual(["by the test", "after a"]);
  expect(app.enqueued(next).map(({ payload }) => payload)).toEqual(["by the test", "after a"]);
});

describe("large payloads", () => {
  const payload = "x".repeat(1_200_000);
  const store = { ...memoryStore(), put: () => expect.fail("not in a test") };

  test("go to the store of the deployment or of the queue, both in memory, in a test of a server", async () => {
    const handled: string[] = [];
    const shared = defineQueue<string>("shared");
    const own = defineQueue<string>("own", { offload: offload({ store, maxBytes: 1_300_000 }) });
    const app = testDeployment({
      offload: () => offload({ store }),
      consumers: [shared, own].map((queue) =>
        queue.consumer(async (task) => void handled.push(task.payload)),
      ),
    });
    await shared.enqueue(payload);
    await own.enqueue(payload);
    await expect(own.enqueue(payload + payload)).rejects.toMatchObject({ code: "too_large" });
    await app.run();
    expect(handled).toEqual([payload, payload]);
  });

  test("go to the store of the queue, in memory, in a test of functions", async () => {
    const handled: string[] = [];
    const own = defineQueue<string>("own", { offload: offload({ store }) });
    const app = testDeployment(
      cloudflare.sluice({ consumers: [own.consumer(async (task) => void handled.push(task.payload))] }),
    );
    await own.enqueue(payload);
    await app.run();
    expect(handled).toEqual([payload]);
  });
});

test("the handler of a consumer can be called with a task and the tools of a test's deployment", async () => {
  const log = defineQueue<string>("log");
  const env = { GREETING: "hello" };
  const greet = defineQueue<{ to: string }>("greet").consumer(
    async ({ payload }, { GREETING }: typeof env, { queue }) =>
      queue(log).enqueue(`${GREETING} ${payload.to}`),
  );
  const app = testDeployment({ consumers: [greet], queues: [log] }, { env });
  await greet.handler(testTask({ to: "ada" }), env, app.tools());
  expect(app.enqueued(log)).toMatchObject([{ payload: "hello ada" }]);
});

describe("in a test of an app of functions, which does not connect them", () => {
  test("they fail in a handler without a declared transport, as in production", async () => {
    const { done, next, first, options } = deployment();
    const app = testDeployment(cloudflare.sluice(options));
    await app.queue(first).enqueue("a");
    await app.runToEnd();
    expect(await app.deadLetters(first)).toMatchObject([
      { error: { message: expect.stringContaining("transport must be declared") } },
    ]);
    // A test may call them.
    await next.enqueue("by the test");
    await app.run();
    expect(done).toEqual(["by the test"]);
  });

  test("with one they reach the test's database, and cron starts the consumer", async () => {
    const { done, first, options } = deployment(declared);
    const app = testDeployment(cloudflare.sluice(options));
    await app.client().queue("first").enqueue("a");
    expect(await app.tasks(first)).toMatchObject([{ state: "completed" }]);
    expect(done).toEqual([]);
    await app.run();
    expect(done).toEqual(["after a"]);
  });
});

describe("those of a topic, to which queues subscribe,", () => {
  /** A deployment whose consumer of "first" publishes to "orders", to which "billing" and "audit" have subscribed. */
  function publisher(declaration: TopicDeclaration<string> = {}) {
    const done: string[] = [];
    const orders = defineTopic<string>("orders", declaration);
    const first = defineQueue<string>("first", { maxAttempts: 1 });
    const billing = defineQueue<string>("billing", {
      subscribes: [orders, { filter: { header: "eu", exists: false } }],
    });
    const audit = defineQueue<string>("audit", { subscribes: ["orders.#", orders] });
    const consumers = [
      first.consumer(async ({ payload }) => void (await orders.publish(`after ${payload}`))),
      ...[billing, audit].map((queue) =>
        queue.consumer(({ payload }) => void done.push(`${queue.name}: ${payload}`)),
      ),
    ];
    return { done, orders, first, options: { consumers } };
  }
  const both = (payload: string) => [`audit: ${payload}`, `billing: ${payload}`];

  test("reach the test's database, in a test of a server and with a transport in one of functions", async () => {
    for (const ofServer of [true, false]) {
      const { done, orders, first, options } = publisher(declared);
      const app = testDeployment<object>(ofServer ? options : cloudflare.sluice({ ...options, topics }));
      await app.run();
      await orders.publish("by the test");
      expect(done).toEqual([]);
      await app.queue(first).enqueue("a");
      await app.run();
      await app.run();
      expect(done.toSorted()).toEqual([...both("after a"), ...both("by the test")].toSorted());
    }
  });

  test("fail in a handler of functions without a declared transport, as in production", async () => {
    const { first, options } = publisher();
    const app = testDeployment(cloudflare.sluice({ ...options, topics }));
    await app.queue(first).enqueue("a");
    await app.runToEnd();
    expect(await app.deadLetters(first)).toMatchObject([
      { error: { message: expect.stringContaining("transport must be declared") } },
    ]);
  });
});
