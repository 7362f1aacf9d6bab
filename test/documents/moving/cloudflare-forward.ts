import { type CloudflareBatch, Queue } from "sluice-queue";
import { upstash } from "sluice-queue/upstash";

type Env = { UPSTASH_REDIS_REST_URL: string; UPSTASH_REDIS_REST_TOKEN: string };

/** Takes the place of the Worker's queue(): each message becomes a task with the same id. */
export default {
  async queue(batch: CloudflareBatch<{ to: string }>, env: Env) {
    const emails = new Queue<{ to: string }>("emails", { transport: upstash(env) });
    await emails.enqueueMany(batch.messages.map(({ id, body }) => ({ id, payload: body })));
  },
};
