import { createClient } from "@redis/client";
import { type Job, Queue, Worker } from "bullmq";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type SharedRedis, sharedRedis } from "../../support/shared-redis.ts";

/** A BullMQ queue `emails` in an empty Redis, for each test of a file. */
export interface Bull {
  readonly jobs: Queue;
  /** A connection for what a test makes of BullMQ. */
  client(): ReturnType<typeof createClient>;
  /** Starts a worker. */
  started(handler: (job: Job) => Promise<unknown>, options?: object): Worker;
  /** Is called after the test, the last one first. */
  atEnd(end: () => unknown): void;
}

/** Registers the set-up with vitest. */
export function useBull(): Bull {
  let redis: SharedRedis;
  const ends: (() => unknown)[] = [];
  const atEnd = (end: () => unknown) => void ends.push(end);
  const client = () => {
    const one = createClient({ url: redis.url }).on("error", () => {});
    atEnd(() => one.isOpen && one.destroy());
    return one as ReturnType<typeof createClient>;
  };
  const bull: { jobs: Queue } & Bull = {
    jobs: undefined as never,
    client,
    atEnd,
    started(handler, options = {}) {
      const worker = new Worker("emails", handler, { connection: client(), ...options });
      atEnd(() => worker.close(true));
      return worker;
    },
  };
  beforeAll(async () => {
    redis = await sharedRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    await (await client().connect()).flushAll();
    bull.jobs = new Queue("emails", { connection: client() });
    atEnd(() => bull.jobs.close());
  });
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  return bull;
}
