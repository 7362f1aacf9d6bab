import type { CloudflareBatch, CloudflareContext } from "../../../src/adapters/cloudflare-queue.ts";
import { cases, names, seenOf } from "../../adapters/cloudflare-queue-handlers.ts";

/**
 * A Worker, called as a queue calls its consumer. Answers with the runtime's report of the handler's calls.
 */
interface Consumer {
  queue(name: string, messages: object[]): Promise<unknown>;
}

interface Env {
  readonly KINDS: { sendBatch(messages: object[]): Promise<unknown> };
  readonly CONSUMER: Consumer;
  readonly IMPATIENT: Consumer;
}

const rules = Object.values(cases);
const kinds: unknown[] = [];

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/notes") {
      const notes: unknown[] = [];
      // Each rule has a queue that is named by its place in the table.
      for (const rule of rules.keys()) {
        const messages = names.map((body) => ({ id: body, timestamp: new Date(), body, attempts: 1 }));
        const queue = `rule-${rule}`;
        notes.push({
          waiting: await env.CONSUMER.queue(queue, messages),
          impatient: await env.IMPATIENT.queue(queue, messages),
        });
      }
      return Response.json(notes);
    }
    await env.KINDS.sendBatch([
      { body: { to: "a@example.com" }, contentType: "json" },
      { body: "text", contentType: "text" },
      { body: new Uint8Array([0, 255]), contentType: "bytes" },
    ]);
    // In workerd one request cannot await a promise of another.
    while (kinds.length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
    return Response.json(kinds);
  },

  queue(batch: CloudflareBatch, _env: Env, ctx: CloudflareContext): unknown {
    const [, rule] = batch.queue.split("-");
    if (rule !== undefined) return rules[Number(rule)]?.handle(batch, ctx);
    return void kinds.push(...seenOf(batch));
  },
};
