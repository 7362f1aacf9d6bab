// The code of docs/partitions.md, after the declarations that the page omits, so that it is type checked.

import { databases, defineQueue, Operator, Queue, type Transport } from "../../src/index.ts";
import { upstash } from "../../src/transport/upstash.ts";

type Order = { id: string };
type Credentials = { UPSTASH_REDIS_REST_URL: string; UPSTASH_REDIS_REST_TOKEN: string };
declare const [first, second, third]: [Credentials, Credentials, Credentials];
declare const order: Order;

export const events = defineQueue<{ url: string }>("events", { partitions: 8 });

export async function grouped(queue: Queue<Order>) {
  await queue.enqueue(order, { id: "order-17{customer-5}", group: "customer-5" });
}

export async function resized(transport: Transport) {
  await new Operator(events, { transport }).resize(16);
}

export function spread() {
  const transport = databases([upstash(first), upstash(second), upstash(third)]);
  const queue = new Queue<Order>("orders", { transport, partitions: 6 });
  return queue;
}
