// The forwarders of the pages on moving lose nothing: if Redis does not answer, if it refuses a task, and if the
// forwarder ends between the enqueue and its acknowledgement.
import { createClient } from "@redis/client";
import { Queue as BullQueue, Worker } from "bullmq";
import { Queue, type Transport } from "sluice-queue";
import { testQueue } from "sluice-queue/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { resp } from "../../../src/transports/resp.ts";
import { startRedis } from "../../support/redis.ts";
import { type SharedRedis, sharedRedis } from "../../support/shared-redis.ts";
import { filesOf } from "../code.ts";

const over = vi.hoisted(() => ({ transport: undefined as unknown }));
vi.mock("sluice-queue/upstash", () => ({ upstash: () => over.transport }));

const file = filesOf("moving");
const { emails } = await file("bullmq-emails.ts");
const { forward: forwardJobs, taskId } = await file("bullmq-forward.ts");
const { default: cloudflareForwarder } = await file("cloudflare-forward.ts");
const { handler: forwardMessages } = await file("sqs-forward.ts");

let errors: string[];
beforeEach(() => {
  errors = [];
  vi.spyOn(console, "error").mockImplementation((text) => void errors.push(String(text)));
});
afterEach(() => void vi.restoreAllMocks());

describe("the forwarder of BullMQ", () => {
  let redis: SharedRedis;
  const ends: (() => unknown)[] = [];
  const client = () => {
    const one = createClient({ url: redis.url }).on("error", () => {});
    ends.push(() => one.isOpen && one.destroy());
    return one;
  };
  const started = (worker: Worker) => {
    ends.push(() => worker.close(true));
    return worker;
  };
  let jobs: BullQueue<{ to: string }>;
  beforeAll(async () => {
    redis = await sharedRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    const keys = await client().connect();
    await keys.flushAll();
    jobs = new BullQueue("emails", { connection: client() });
    ends.push(() => jobs.close());
  });
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  /** A job that BullMQ removes when it has ended, also if it failed at its only attempt. */
  const add = (jobId: string, to = "a@example.com", delay = 0) =>
    jobs.add("welcome", { to }, { jobId, delay, attempts: 1, removeOnFail: true, removeOnComplete: true });
  const left = () => jobs.getJobCountByTypes();
  /** Calls back in place of the answer to the first request. */
  const answerLost = (transport: Transport, lost: () => void) => {
    let sent = false;
    const send: Transport["send"] = async (...call) => {
      const answer = await transport.send(...call);
      if (sent) return answer;
      sent = true;
      lost();
      return new Promise(() => {});
    };
    ends.push(emails.connect({ transport: { ...transport, send } }));
  };
  /** Makes the jobs of a killed forwarder wait again. BullMQ itself needs up to a minute, until their locks expire. */
  const releaseActive = async () => {
    const [connection, keys] = [client(), await client().connect()];
    const active = await jobs.getActive();
    await keys.del(["bull:emails:stalled-check", ...active.map(({ id }) => `bull:emails:${id}:lock`)]);
    const checker = started(new Worker("emails", null, { connection, stalledInterval: 50 }));
    await checker.startStalledCheckTimer();
    await expect.poll(() => jobs.getWaitingCount()).toBe(active.length);
    await checker.close();
  };

  test("makes each job a task, with its name, when it is due", async () => {
    const here = testQueue(emails);
    await add("welcome-17");
    await add("welcome-18", "b@example.com", 100);
    started(forwardJobs(client()));
    await expect.poll(left).toBe(0);
    const payloads = here.enqueued.map(({ payload }) => payload);
    expect(payloads).toEqual([
      { template: "welcome", to: "a@example.com" },
      { template: "welcome", to: "b@example.com" },
    ]);
    expect(errors).toEqual([]);
  });

  test("loses no job while Sluice's Redis is unreachable", async () => {
    const own = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
    const transport = resp({ url: own.url, retry: { deadline: 300 } });
    const disconnect = emails.connect({ transport });
    ends.push(
      disconnect,
      () => transport.close(),
      () => own.stop(),
    );
    const forwarder = started(forwardJobs(client()));
    await add("welcome-1");
    await expect.poll(left).toBe(0);
    await own.kill();
    await add("welcome-2");
    await add("welcome-3");
    await expect.poll(() => jobs.getDelayedCount()).toBe(2);
    expect(
      errors.filter((text) => /^job welcome-[23] is forwarded again in 10 s: SluiceError/.test(text)),
    ).toHaveLength(2);
    await own.restart();
    await jobs.promoteJobs();
    await expect.poll(left).toBe(0);
    await forwarder.close();
    expect(await new Queue(emails, { transport }).counts()).toMatchObject({ pending: 3 });
  });

  test.each(["welcome smith", "welcome müller", "#17", "w".repeat(200)])(
    "makes a task of the job %j, whose id Sluice refuses",
    async (jobId) => {
      const here = testQueue(emails);
      await add(jobId);
      started(forwardJobs(client()));
      await expect.poll(left).toBe(0);
      expect(await here.tasks()).toMatchObject([{ id: expect.stringMatching(/^sha256-[0-9a-f]{64}$/) }]);
      expect(errors).toEqual([]);
    },
  );

  test("leaves a job in BullMQ that Sluice refuses, and forwards the others", async () => {
    const here = testQueue(emails);
    await add("large", "a".repeat(1_100_000));
    await add("welcome-17");
    started(forwardJobs(client()));
    await expect.poll(() => here.enqueued.length).toBe(1);
    await expect.poll(() => jobs.getDelayedCount()).toBe(1);
    expect(await jobs.getJob("large")).toBeDefined();
    expect(errors).toEqual([
      expect.stringMatching(/^job large is forwarded again in 10 s: SluiceError: .*1048576/),
    ]);
  });

  test("adds nothing if it is killed after the enqueue, even if the task has ended before the job comes again", async () => {
    const here = testQueue(emails);
    const forwarder = await new Promise<Worker>((resolve) => {
      answerLost(here.transport, () => resolve(worker));
      const worker = started(forwardJobs(client()));
      void add("welcome-17");
    });
    await forwarder.close(true);
    expect(await here.work(() => {})).toMatchObject({ completed: 1 });
    expect(await jobs.getActiveCount()).toBe(1);
    await releaseActive();
    started(forwardJobs(client()));
    await expect.poll(left).toBe(0);
    expect(await here.tasks()).toMatchObject([{ id: "welcome-17", state: "completed" }]);
  });

  test("takes a stalled job back each time, and never fails it", async () => {
    const forwarder = started(forwardJobs(client()));
    expect(forwarder.opts.maxStalledCount).toBeGreaterThan(1_000_000);
    // BullMQ does not end a connection that is being opened when its worker closes.
    await forwarder.waitUntilReady();
  });

  test("begins a task again if BullMQ accepts another job with its id", async () => {
    const here = testQueue(emails);
    started(forwardJobs(client()));
    for (const to of ["a@example.com", "b@example.com"]) {
      await add("welcome-17", to);
      await expect.poll(left).toBe(0);
      expect(await here.work(({ payload }) => (payload as { to: string }).to)).toMatchObject({
        completed: 1,
      });
    }
    expect(await here.tasks()).toMatchObject([
      { id: "welcome-17", state: "completed", result: "b@example.com" },
    ]);
  });

  test("leaves ids that Sluice accepts as they are", () => {
    for (const id of ["17", "welcome-17", "repeat:digest:1795453745508"]) expect(taskId(id)).toBe(id);
  });
});

describe("the forwarders of SQS, Cloudflare Queues and QStash", () => {
  const to = "a@example.com";
  const env = { UPSTASH_REDIS_REST_URL: "", UPSTASH_REDIS_REST_TOKEN: "" };
  /** Delivers messages of SQS, such as `[["sqs-1", '{"to":"a"}']]`. */
  const sqs = (...messages: readonly (readonly [id: string, body: string])[]) => {
    const Records = messages.map(([messageId, body]) => ({ messageId, body }));
    return forwardMessages({ Records });
  };
  /** Delivers messages of Cloudflare Queues. Returns what the forwarder decided for each. */
  const cloudflare = async (...messages: readonly (readonly [id: string, body: unknown])[]) => {
    const decisions: Record<string, unknown> = {};
    const batch = {
      messages: messages.map(([id, body]) => ({
        id,
        body,
        ack: () => (decisions[id] = "ack"),
        retry: (options: unknown) => (decisions[id] = options),
      })),
    };
    await cloudflareForwarder.queue(batch, env);
    return decisions;
  };
  const later = { delaySeconds: 300 };

  test.each(["before", "after"])(
    "let the old queue deliver a message again if Redis does not answer, %s it has the task",
    async (when) => {
      const here = testQueue<{ to: string }>("emails");
      const send: Transport["send"] = async (...call) => {
        if (when === "after") await here.transport.send(...call);
        throw new Error("no answer");
      };
      over.transport = { ...here.transport, send };
      await expect(sqs(["sqs-1", JSON.stringify({ to })])).rejects.toThrow("no answer");
      expect(await cloudflare(["cf-1", { to }])).toEqual({ "cf-1": later });

      // The tasks that are there end before the messages come again.
      expect(await here.work(() => {})).toMatchObject({ completed: when === "after" ? 2 : 0 });
      over.transport = here.transport;
      await sqs(["sqs-1", JSON.stringify({ to })]);
      expect(await cloudflare(["cf-1", { to }])).toEqual({ "cf-1": "ack" });
      expect((await here.tasks()).map(({ id }) => id).toSorted()).toEqual(["cf-1", "sqs-1"]);
      expect(await here.tasks(when === "after" ? "completed" : "pending")).toHaveLength(2);
    },
  );

  test("forward the other messages of a batch if one is refused, which the old queue delivers again", async () => {
    const here = testQueue<{ to: string }>("emails");
    over.transport = here.transport;
    const good = JSON.stringify({ to });
    await expect(sqs(["sqs-1", good], ["bad", "no JSON"], ["sqs-2", good])).rejects.toThrow(SyntaxError);
    expect(await cloudflare(["cf-1", { to }], ["bad", { to: 1n }], ["cf-2", { to }])).toEqual({
      "cf-1": "ack",
      bad: later,
      "cf-2": "ack",
    });
    await expect.poll(() => here.enqueued.map(({ id }) => id)).toEqual(["sqs-1", "sqs-2", "cf-1", "cf-2"]);
  });

  test("give tasks the attempts of the declaration", async () => {
    const here = testQueue<{ to: string }>("emails");
    over.transport = here.transport;
    await sqs(["sqs-1", JSON.stringify({ to })]);
    await cloudflare(["cf-1", { to }]);
    const attempts: Record<string, number> = {};
    await here.workToEnd(({ id, attempt }) => {
      attempts[id] = attempt;
      throw new Error("down");
    });
    expect(attempts).toEqual({ "sqs-1": 5, "cf-1": 4 });
  });
});
