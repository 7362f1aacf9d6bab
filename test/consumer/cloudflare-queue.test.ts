import { expect, it } from "vitest";
import {
  type CloudflareBatch,
  type CloudflareContext,
  cloudflareQueue,
  type CloudflareQueueOptions,
} from "../../src/consumer/adapters/cloudflare-queue.ts";
import { drainBatches } from "../../src/consumer/drain/drain.ts";
import { NonRetryableError, StoppedError } from "../../src/consumer/drain/failures.ts";
import { START, useRig } from "../support/rig.ts";
import { hanging, stoppedError } from "./draining.ts";
import { settleBatch } from "./settle-batch.ts";

const rig = useRig();

/** The batch that a handler gets for the pending tasks. */
async function seen(options: Partial<CloudflareQueueOptions> = {}): Promise<CloudflareBatch> {
  let given: CloudflareBatch | undefined;
  const handler = cloudflareQueue((batch: CloudflareBatch) => void (given = batch), {
    queue: "emails",
    ...options,
  });
  await settleBatch(rig.queue(), handler);
  return given as CloudflareBatch;
}

it("a message shows its task: id, time of enqueue, payload, attempt", async () => {
  const queue = rig.queue();
  await queue.enqueue({ to: "a@example.com" }, { id: "x" });
  rig.now += 1_000;
  await (await queue.dequeue())[0]?.requeue();
  const batch = await seen();
  expect({ ...batch.messages[0] }).toMatchObject({
    id: "x",
    timestamp: new Date(START),
    body: { to: "a@example.com" },
    attempts: 2,
  });
});

it("a batch shows the queue's name, and zeros as a runtime without metrics does", async () => {
  await rig.queue().enqueue(1);
  const { queue, messages, metadata } = await seen({ queue: "my-queue" });
  expect([queue, messages.length, metadata]).toEqual([
    "my-queue",
    1,
    { metrics: { backlogCount: 0, backlogBytes: 0 } },
  ]);
});

it("payloads arrive unchanged, bytes as an ArrayBuffer of their own", async () => {
  const payloads = ["text", "42", 42, null, false, [], {}, "", new Uint8Array([0, 1, 255]).subarray(1)];
  await rig.queue().enqueueMany(payloads.map((payload) => ({ payload })));
  const bodies = (await seen()).messages.map(({ body }) => body);
  expect(bodies).toEqual([...payloads.slice(0, -1), new Uint8Array([1, 255]).buffer]);
});

it("a worker keeps its this, and gets its environment and context", async () => {
  class Mailer {
    readonly sent: unknown[] = [];
    queue({ messages }: CloudflareBatch<string>, env: { url: string }, ctx: { props: unknown }) {
      this.sent.push(
        env.url,
        ctx.props,
        messages.map(({ body }) => body),
      );
    }
  }
  const mailer = new Mailer();
  await rig.queue().enqueue("a");
  const handler = cloudflareQueue(mailer, {
    queue: "emails",
    env: { url: "http://mail" },
    ctx: { props: 1 },
  });
  await settleBatch(rig.queue<string>(), handler);
  expect(mailer.sent).toEqual(["http://mail", 1, ["a"]]);
});

it("the platform's context keeps its methods; it sees a failed promise only as ended", async () => {
  class Platform {
    readonly #promises: Promise<unknown>[] = [];
    readonly exports = { name: "exports" };
    waitUntil(promise: Promise<unknown>) {
      this.#promises.push(promise);
    }
    passThroughOnException() {}
    ended() {
      return Promise.all(this.#promises);
    }
  }
  const ctx = new Platform();
  await rig.queue().enqueue("a", { id: "x" });
  let given: unknown[] = [];
  const handler = cloudflareQueue(
    (_batch, _env, context: Platform) => {
      context.passThroughOnException();
      context.waitUntil(Promise.reject(new Error("late")));
      given = [context.exports, "ended" in context, context instanceof Platform];
    },
    { queue: "emails", ctx },
  );
  await settleBatch(rig.queue(), handler);
  expect(given).toEqual([{ name: "exports" }, true, true]);
  expect(await ctx.ended()).toEqual([undefined]);
  expect(await rig.queue().get("x")).toMatchObject({ state: "delayed", error: { message: "late" } });
});

it("without a platform's context there is a minimal one", async () => {
  await rig.queue().enqueue("a", { id: "x" });
  let given: CloudflareContext | undefined;
  const handler = cloudflareQueue((_batch, _env, ctx) => void (given = ctx), { queue: "emails" });
  await settleBatch(rig.queue(), handler);
  expect([given?.passThroughOnException(), given?.props]).toEqual([undefined, {}]);
});

it("a failed task keeps the first error, also if it was retried with a delay; an acknowledged task has none", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(["a", "b", "c"].map((id) => ({ id, payload: id })));
  const handler = cloudflareQueue(
    ({ messages: [a, b] }, _env, ctx) => {
      a?.ack();
      b?.retry({ delaySeconds: 60 });
      ctx.waitUntil(Promise.reject(new Error("second")));
      throw new TypeError("first");
    },
    { queue: "emails", backoff: ["1m"] },
  );
  await settleBatch(queue, handler);
  expect((await queue.get("a"))?.error).toBeUndefined();
  const failed = { state: "delayed", dueAt: START + 60_000, error: { name: "TypeError", message: "first" } };
  expect([await queue.get("b"), await queue.get("c")]).toMatchObject([failed, failed]);
});

it("a NonRetryableError makes dead letters of tasks that were neither acknowledged nor retried", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(["a", "b", "c"].map((id) => ({ id, payload: id })));
  const handler = cloudflareQueue(
    ({ messages: [a, b] }) => {
      a?.ack();
      b?.retry();
      throw new NonRetryableError("no such customer");
    },
    { queue: "emails", backoff: ["1m"] },
  );
  await settleBatch(queue, handler);
  const tasks = await Promise.all(["a", "b", "c"].map((id) => queue.get(id)));
  expect(tasks.map((task) => task?.state)).toEqual(["completed", "delayed", "rejected"]);
});

it("a retry without a failure leaves no error", async () => {
  const queue = rig.queue();
  await queue.enqueue("a", { id: "x" });
  await settleBatch(
    queue,
    cloudflareQueue((batch) => batch.retryAll(), { queue: "emails" }),
  );
  expect((await queue.get("x"))?.error).toBeUndefined();
});

it("without a delay or a backoff the next attempt comes after five to ten seconds, at random", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(Array.from({ length: 50 }, (_, at) => ({ id: `x${at}`, payload: at })));
  await settleBatch(
    queue,
    cloudflareQueue((batch) => batch.retryAll(), { queue: "emails" }),
  );
  const tasks = await Promise.all(Array.from({ length: 50 }, (_, at) => queue.get(`x${at}`)));
  const delays = tasks.map((task) => (task?.dueAt ?? START) - START);
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(5_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(10_000);
  expect(new Set(delays).size).toBeGreaterThan(10);
});

it("a delay may be longer than Cloudflare's, and is ten years at most", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload: id })));
  const handler = cloudflareQueue(
    ({ messages: [a, b] }) => {
      a?.retry({ delaySeconds: 100_000 });
      b?.retry({ delaySeconds: 2 ** 31 - 1 });
    },
    { queue: "emails" },
  );
  await settleBatch(queue, handler);
  expect((await queue.get("a"))?.dueAt).toBe(START + 100_000_000);
  expect((await queue.get("b"))?.dueAt).toBe(START + 3_650 * 86_400_000);
});

it("a batch whose time is over before it begins does not wait for its handler", async () => {
  const queue = rig.queue();
  await queue.enqueue("a", { id: "x" });
  const handler = cloudflareQueue(hanging, { queue: "emails", backoff: ["1m"] });
  await settleBatch(queue, handler, AbortSignal.abort(new StoppedError("budget")));
  expect(await queue.get("x")).toMatchObject({ state: "delayed", error: stoppedError("budget") });
});

it("a retry on the last attempt makes a dead letter", async () => {
  const queue = rig.queue();
  await queue.enqueue("a", { id: "x", maxAttempts: 1 });
  const handler = cloudflareQueue(({ messages: [a] }) => a?.retry(), { queue: "emails" });
  await settleBatch(queue, handler);
  expect(await queue.get("x")).toMatchObject({ state: "rejected", reason: "attempts_exhausted" });
});

it("a call after the batch has ended changes nothing", async () => {
  const queue = rig.queue();
  await queue.enqueue("a", { id: "x" });
  const { messages, retryAll } = await seen();
  const before = await rig.space();
  messages[0]?.retry();
  retryAll();
  expect(await rig.space()).toEqual(before);
  expect((await queue.get("x"))?.state).toBe("completed");
});

it("a drain gives its batches to a consumer until nothing is left", async () => {
  const queue = rig.queue<number>();
  await queue.enqueueMany(Array.from({ length: 25 }, (_, payload) => ({ id: `x${payload}`, payload })));
  const batches: number[] = [];
  const handler = cloudflareQueue(
    ({ messages }: CloudflareBatch<number>) => {
      batches.push(messages.length);
      for (const message of messages) {
        if (message.body === 7 && message.attempts === 1) message.retry({ delaySeconds: 0 });
        else if (message.body === 8) message.retry({ delaySeconds: 60 });
        else message.ack();
      }
      throw new Error("after all was said");
    },
    { queue: "emails" },
  );
  const report = await drainBatches(queue, handler, { batch: 10, concurrency: 10 });
  expect(report).toMatchObject({ completed: 24, requeued: 2, rejected: 0, lost: 0, ended: "empty" });
  expect(batches.reduce((sum, length) => sum + length, 0)).toBe(26);
  expect(await queue.get("x7")).toMatchObject({ state: "completed", attempt: 2 });
  expect(await queue.get("x8")).toMatchObject({ state: "delayed", dueAt: START + 60_000 });
});

it("an acknowledged task stays so when the handler exceeds its timeout", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(["a", "b", "c"].map((id) => ({ id, payload: id })));
  const handler = cloudflareQueue(
    ({ messages: [a, b] }) => {
      a?.ack();
      b?.retry({ delaySeconds: 60 });
      return new Promise(() => {});
    },
    { queue: "emails", backoff: ["1m"] },
  );
  const report = await drainBatches(queue, handler, { timeout: "50ms" });
  expect(report).toMatchObject({ completed: 1, requeued: 2 });
  const stopped = {
    state: "delayed",
    dueAt: START + 60_000,
    error: { message: "the handler took longer than its timeout" },
  };
  expect([await queue.get("b"), await queue.get("c")]).toMatchObject([stopped, stopped]);
});

it("the calls of one batch do not affect another", async () => {
  const queue = rig.queue();
  const handler = cloudflareQueue(
    (batch) => {
      if (batch.messages[0]?.attempts === 1) batch.retryAll({ delaySeconds: 0 });
    },
    { queue: "emails" },
  );
  await queue.enqueue("a", { id: "x" });
  await settleBatch(queue, handler);
  await settleBatch(queue, handler);
  expect(await queue.get("x")).toMatchObject({ state: "completed", attempt: 2 });
});

it.each<[string, string, unknown, unknown]>([
  ["a worker without a queue handler", "worker", { fetch() {} }, { queue: "q" }],
  ["no worker", "worker", undefined, { queue: "q" }],
  ["no options", "options", () => {}, undefined],
  ["no queue", "queue", () => {}, {}],
  ["an empty name", "queue", () => {}, { queue: "" }],
  ["a misspelt option", "retryDelay", () => {}, { queue: "q", retryDelay: 1 }],
  ["an invalid backoff", "backoff.base", () => {}, { queue: "q", backoff: { base: "1 s" } }],
  ["a backoff without a delay", "backoff", () => {}, { queue: "q", backoff: [] }],
  ["a backoff with an invalid later delay", "backoff[1]", () => {}, { queue: "q", backoff: ["1s", "soon"] }],
  ["a text for true or false", "waitForWaitUntil", () => {}, { queue: "q", waitForWaitUntil: "no" }],
  ["no context to wait for promises", "ctx", () => {}, { queue: "q", waitForWaitUntil: false }],
])("refuses %s", (_, path, worker, options) => {
  expect(() => cloudflareQueue(worker as () => void, options as CloudflareQueueOptions)).toThrow(
    expect.objectContaining({ code: "invalid_argument", path }),
  );
});
