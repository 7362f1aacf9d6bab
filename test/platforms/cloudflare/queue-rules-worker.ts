import type { CloudflareBatch, CloudflareContext } from "../../../src/consumer/adapters/cloudflare-queue.ts";
import { cases, names } from "../../consumer/cloudflare-queue-handlers.ts";

/**
 * A Worker, called as a queue calls its consumer. Answers with the runtime's report of the handler's calls.
 */
interface Consumer {
  queue(name: string, messages: object[]): Promise<unknown>;
}

type Env = Record<string, { sendBatch(messages: object[], options?: object): Promise<unknown> }> & {
  readonly CONSUMER: Consumer;
  readonly IMPATIENT: Consumer;
};

const rules = Object.values(cases);
/** Each rule's queue is named by its place in the table. */
const again = rules.map(() => "");
const kinds: unknown[] = [];
const last = { seen: false };

/** In workerd one request cannot await a promise of another. */
const ended = async () => {
  while (!last.seen) await new Promise((resolve) => setTimeout(resolve, 10));
  last.seen = false;
};

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/notes") {
      const notes: unknown[] = [];
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
    if (pathname === "/again") {
      for (const rule of rules.keys()) {
        await env[`RULE_${rule}`]?.sendBatch(names.map((body) => ({ body })));
      }
      // Much later than the longest delay of the table, for a busy machine.
      await env["KINDS"]?.sendBatch([{ body: "the end" }], { delaySeconds: 12 });
      await ended();
      return Response.json(again);
    }
    kinds.length = 0;
    await env["KINDS"]?.sendBatch([
      { body: { to: "a@example.com" }, contentType: "json" },
      { body: "text", contentType: "text" },
      { body: new Uint8Array([0, 255]), contentType: "bytes" },
    ]);
    await ended();
    return Response.json(kinds);
  },

  queue(batch: CloudflareBatch, _env: Env, ctx: CloudflareContext): unknown {
    const [, rule] = batch.queue.split("-");
    if (rule === undefined) {
      for (const { body, attempts, timestamp } of batch.messages) {
        const bytes = body instanceof ArrayBuffer && [...new Uint8Array(body)];
        kinds.push({
          body: bytes || body,
          bytes: bytes !== false,
          attempts,
          dated: timestamp instanceof Date,
        });
      }
      last.seen = true;
      return undefined;
    }
    if (batch.messages[0]?.attempts === 1) return rules[Number(rule)]?.handle(batch, ctx);
    again[Number(rule)] += batch.messages.map(({ body }) => body).join("");
    return undefined;
  },
};
