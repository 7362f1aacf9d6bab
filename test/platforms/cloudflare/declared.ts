import { env } from "cloudflare:workers";
import { defineQueue } from "../../../src/index.ts";
import { upstash } from "../../../src/transports/upstash.ts";

const orders = defineQueue<number>("orders", { maxAttempts: 3, transport: () => upstash(env) });

/** A Worker of a user that only enqueues, with the own methods of a declared queue. */
export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const number = Number(pathname.slice(1));
    // Two calls of one turn share a request to Redis.
    const [enqueued] = await Promise.all([
      orders.enqueue(number, { id: String(number) }),
      orders.enqueue(number, { id: `again-${number}` }),
    ]);
    return Response.json({ ...enqueued, state: (await orders.get(enqueued.id))?.state });
  },
};
