import { type CloudflareBatch, Queue } from "sluice-queue";
import { upstash } from "sluice-queue/upstash";
import { emails } from "./cloudflare-queues.ts";

type Env = { UPSTASH_REDIS_REST_URL: string; UPSTASH_REDIS_REST_TOKEN: string };

/** Takes the place of the Worker's queue(): each message becomes a task with the same id. */
export default {
  async queue(batch: CloudflareBatch<{ to: string }>, env: Env) {
    const queue = new Queue(emails, { transport: upstash(env) });
    await Promise.all(
      batch.messages.map(async (message) => {
        try {
          await queue.enqueue(message.body, { id: message.id });
          message.ack();
        } catch (error) {
          console.error(`message ${message.id} is forwarded again in 5 min: ${String(error)}`);
          message.retry({ delaySeconds: 300 });
        }
      }),
    );
  },
};
