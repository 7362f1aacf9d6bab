import { describe, expect, it } from "vitest";
import {
  type CloudflareBatch,
  type CloudflareContext,
  cloudflareQueue,
  type CloudflareQueueOptions,
} from "../../src/adapters/cloudflare-queue.ts";
import { drainBatches } from "../../src/drain/drain.ts";
import { NonRetryableError, StoppedError } from "../../src/drain/failures.ts";
import { named, numbered } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { type Case, cases, kinds, names, seenOf } from "./cloudflare-queue-handlers.ts";
import { hanging, stoppedError } from "../drain/draining.ts";
import { settleBatch } from "../drain/settle-batch.ts";

const rig = useRig();
useSimulatedTime(rig);

/** Adds tasks with these ids, or one `x`, and passes all pending tasks to the handler. Returns the tasks. */
async function settled(
  handle: Parameters<typeof cloudflareQueue<unknown, object, CloudflareContext>>[0],
  { ids = ["x"], ...options }: Partial<CloudflareQueueOptions> & { ids?: readonly string[] } = {},
) {
  const queue = rig.queue();
  if (ids.length > 0) await queue.enqueueMany(named(ids));
  await settleBatch(queue, cloudflareQueue(handle as () => void, { queue: "emails", ...options }));
  return Promise.all(ids.map((id) => queue.get(id)));
}

/** The batch that a handler gets for the pending tasks. */
async function seen(options: Partial<CloudflareQueueOptions> = {}): Promise<CloudflareBatch> {
  let given: CloudflareBatch | undefined;
  await settled((batch) => void (given = batch), { ids: [], ...options });
  return given as CloudflareBatch;
}

it("a batch shows the queue's name, zeros as a runtime without metrics does, and of a task its id, time of enqueue, payload, attempt", async () => {
  const queue = rig.queue();
  await queue.enqueue({ to: "a@example.com" }, { id: "x" });
  rig.now += 1_000;
  await (await queue.dequeue())[0]?.requeue();
  const { queue: name, messages, metadata } = await seen({ queue: "my-queue" });
  expect([name, metadata]).toEqual(["my-queue", { metrics: { backlogCount: 0, backlogBytes: 0 } }]);
  const message = { id: "x", timestamp: new Date(START), body: { to: "a@example.com" }, attempts: 2 };
  expect(messages.map((one) => ({ ...one }))).toMatchObject([message]);
});

it("payloads arrive unchanged, bytes as an ArrayBuffer of their own", async () => {
  const payloads = ["text", "42", 42, null, false, [], {}, "", new Uint8Array([0, 1, 255]).subarray(1)];
  await rig.queue().enqueueMany(payloads.map((payload) => ({ payload })));
  const bodies = (await seen()).messages.map(({ body }) => body);
  expect(bodies).toEqual([...payloads.slice(0, -1), new Uint8Array([1, 255]).buffer]);
});

it("a worker keeps its this, and gets its environment and context; without one a minimal one", async () => {
  class Mailer {
    readonly sent: unknown[] = [];
    queue({ messages }: CloudflareBatch, env: { url: string }, ctx: CloudflareContext) {
      this.sent.push(env.url, ctx.props, ctx.passThroughOnException(), messages[0]?.body);
    }
  }
  const mailer = new Mailer();
  await rig.queue().enqueue("a");
  await settleBatch(rig.queue(), cloudflareQueue(mailer, { queue: "emails", env: { url: "http://mail" } }));
  expect(mailer.sent).toEqual(["http://mail", {}, undefined, "a"]);
});

it("the platform's context keeps its methods; it sees a failed promise only as ended", async () => {
  class Platform {
    readonly #promises: Promise<unknown>[] = [];
    readonly exports = { name: "exports" };
    readonly props = 1;
    waitUntil(promise: Promise<unknown>) {
      this.#promises.push(promise);
    }
    passThroughOnException() {}
    ended() {
      return Promise.all(this.#promises);
    }
  }
  const ctx = new Platform();
  let given: unknown[] = [];
  const [task] = await settled(
    (_batch, _env, context) => {
      context.passThroughOnException();
      context.waitUntil(Promise.reject(new Error("late")));
      given = [(context as Platform).exports, context.props, "ended" in context, context instanceof Platform];
    },
    { ctx },
  );
  expect(given).toEqual([{ name: "exports" }, 1, true, true]);
  expect(await ctx.ended()).toEqual([undefined]);
  expect(task).toMatchObject({ state: "delayed", error: { message: "late" } });
});

it("a failed task keeps the first error, also if it was retried with a delay; an acknowledged task has none", async () => {
  const handle: Parameters<typeof settled>[0] = ({ messages: [a, b] }, _env, ctx) => {
    a?.ack();
    b?.retry({ delaySeconds: 60 });
    ctx.waitUntil(Promise.reject(new Error("second")));
    throw new TypeError("first");
  };
  const [a, ...others] = await settled(handle, { ids: ["a", "b", "c"], backoff: ["1m"] });
  expect(a?.error).toBeUndefined();
  const failed = { state: "delayed", dueAt: START + 60_000, error: { name: "TypeError", message: "first" } };
  expect(others).toMatchObject([failed, failed]);
});

it("a NonRetryableError makes dead letters of tasks that were neither acknowledged nor retried", async () => {
  const handle: Parameters<typeof settled>[0] = ({ messages: [a, b] }) => {
    a?.ack();
    b?.retry();
    throw new NonRetryableError("no such customer");
  };
  const tasks = await settled(handle, { ids: ["a", "b", "c"], backoff: ["1m"] });
  expect(tasks.map((task) => task?.state)).toEqual(["completed", "delayed", "rejected"]);
});

it("without a delay or a backoff the next attempt comes after five to ten seconds, at random, and leaves no error", async () => {
  const tasks = await settled((batch) => batch.retryAll(), { ids: numbered(50).map(({ id }) => id) });
  const delays = tasks.map((task) => (task?.dueAt ?? START) - START);
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(5_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(10_000);
  expect(new Set(delays).size).toBeGreaterThan(10);
  expect(tasks.every((task) => task?.error === undefined)).toBe(true);
});

it("a delay may be longer than Cloudflare's, and is ten years at most", async () => {
  const handle = ({ messages: [a, b] }: CloudflareBatch) => {
    a?.retry({ delaySeconds: 100_000 });
    b?.retry({ delaySeconds: 2 ** 31 - 1 });
  };
  const tasks = await settled(handle, { ids: ["a", "b"] });
  expect(tasks.map((task) => task?.dueAt)).toEqual([START + 100_000_000, START + 3_650 * 86_400_000]);
});

it("a batch whose time is over before it begins does not wait for its handler", async () => {
  const queue = rig.queue();
  await queue.enqueue("a", { id: "x" });
  const handler = cloudflareQueue(hanging, { queue: "emails", backoff: ["1m"] });
  await settleBatch(queue, handler, AbortSignal.abort(new StoppedError("budget")));
  expect(await queue.get("x")).toMatchObject({ state: "delayed", error: stoppedError("budget") });
});

it("a call after the batch has ended changes nothing", async () => {
  await rig.queue().enqueue("a", { id: "x" });
  const { messages, retryAll } = await seen();
  const before = await rig.space();
  messages[0]?.retry();
  retryAll();
  expect(await rig.space()).toEqual(before);
  expect((await rig.queue().get("x"))?.state).toBe("completed");
});

it("a drain gives its batches to a consumer until nothing is left; the calls of one batch do not affect another", async () => {
  const queue = rig.queue<number>();
  await queue.enqueueMany(numbered(25));
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
  expect(await queue.get("t7")).toMatchObject({ state: "completed", attempt: 2 });
  expect(await queue.get("t8")).toMatchObject({ state: "delayed", dueAt: START + 60_000 });
});

it("an acknowledged task stays so when the handler exceeds its timeout", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(named(["a", "b", "c"]));
  const handler = cloudflareQueue(
    ({ messages: [a, b] }) => {
      a?.ack();
      b?.retry({ delaySeconds: 60 });
      return hanging();
    },
    { queue: "emails", backoff: ["1m"] },
  );
  const report = await drainBatches(queue, handler, { timeout: "50ms" });
  expect(report).toMatchObject({ completed: 1, requeued: 2 });
  const error = { message: "the handler took longer than its timeout" };
  const stopped = { state: "delayed", dueAt: rig.now + 60_000, error };
  expect([await queue.get("b"), await queue.get("c")]).toMatchObject([stopped, stopped]);
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

// test/platforms/cloudflare/queue-rules.test.ts expects the same of workerd.

const rules = Object.entries(cases).map(([sentence, rule]) => ({ sentence, ...rule }));

describe("each handler of the table does in Sluice what it does in workerd", () => {
  /** The outcomes of a batch in Sluice. */
  async function outcomes(handle: Case["handle"], options: Partial<CloudflareQueueOptions> = {}) {
    const handler = cloudflareQueue((batch, _env, ctx: CloudflareContext) => handle(batch, ctx), {
      queue: "emails",
      // A delay that no handler of the table asks for.
      backoff: ["1h"],
      ...options,
    });
    const queue = rig.queue();
    await queue.enqueueMany(names.map((name) => ({ id: name, payload: name })));
    await settleBatch(queue, handler);
    const states = names.map(async (name) => {
      const { state, dueAt = rig.now } = (await queue.get(name)) ?? {};
      if (state === "completed") return "ack";
      return dueAt - rig.now === 3_600_000 ? "retry" : `retry ${(dueAt - rig.now) / 1_000}`;
    });
    return (await Promise.all(states)).join(", ");
  }

  it.each(rules)("$sentence", async ({ becomes, handle }) => {
    expect(await outcomes(handle)).toBe(becomes);
  });

  it.each(rules.filter(({ becomes, impatient }) => becomes !== impatient))(
    "not with the flag queue_consumer_no_wait_for_wait_until: $sentence",
    async ({ handle, impatient }) => {
      const background: Promise<unknown>[] = [];
      const ctx: CloudflareContext = {
        waitUntil: (promise) => void background.push(Promise.allSettled([promise])),
        passThroughOnException() {},
        props: {},
      };
      expect(await outcomes(handle, { ctx, waitForWaitUntil: false })).toBe(impatient);
      // A promise may have given another one since.
      expect(background.length).toBeGreaterThan(0);
      await Promise.all(background);
    },
  );

  it("a message of each kind looks the same", async () => {
    const seen: unknown[] = [];
    const handler = cloudflareQueue((batch) => void seen.push(...seenOf(batch)), { queue: "kinds" });
    const queue = rig.queue();
    const payloads = [{ to: "a@example.com" }, "text", new Uint8Array([0, 255])];
    await queue.enqueueMany(payloads.map((payload) => ({ payload })));
    await settleBatch(queue, handler);
    expect(seen).toEqual(kinds);
  });
});
