// Orders and their four subscribers: billing and mails work on each, exports only on those from the EU, and the webhooks of
// a partner are delivered to a URL whose server is down. `node examples/orders/run.ts` runs it on the embedded store, behind
// a gateway that counts commands as Upstash does.

import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { drain, Queue, sweep } from "../../src/index.ts"; // elsewhere: "sluice-queue"
import { push } from "../../src/features/push/index.ts"; // elsewhere: "sluice-queue/push"
import { defineTopic, Topics, topics } from "../../src/http/topics/index.ts"; // elsewhere: "sluice-queue/topics"
import { dollars, startGateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transports/upstash.ts"; // elsewhere: "sluice-queue/upstash"

const { values } = parseArgs({ options: { orders: { type: "string", default: "200" } } });
const count = Number(values.orders);
const REGIONS = ["eu", "us"];

interface Order {
  readonly order: number;
  readonly total: number;
}

/** The partner's server: it is down, as a server is whose database is. */
const partner = createServer((request, response) => {
  request.resume();
  response.writeHead(503, { "retry-after": "600" }).end();
});
await new Promise<void>((resolve) => partner.listen(0, "127.0.0.1", resolve));
const { port } = partner.address() as { port: number };

const gateway = await startGateway();
const transport = upstash({ url: gateway.url, token: gateway.token });
const orders = defineTopic<Order>("orders", { transport });
await orders.subscribe("billing");
await orders.subscribe("mails");
await orders.subscribe("exports", { filter: { header: "region", in: ["eu"] } });
await new Topics({ transport }).subscribe("partner", "orders.#");

const queueOf = (name: string) => new Queue<Order>(name, { transport });
const done: Record<string, number> = { billing: 0, mails: 0, exports: 0 };

gateway.resetUsage();
for (let first = 0; first < count; first += 100) {
  const messages = Array.from({ length: Math.min(100, count - first) }, (_, i) => {
    const order = first + i;
    const region = REGIONS[order % REGIONS.length] as string;
    // With its id, an order that is published again adds nothing.
    return { id: `order-${order}`, payload: { order, total: 100 + order }, headers: { region } };
  });
  // One request: a copy for each subscriber.
  await orders.publishMany(messages);
}

// The dead subscriber first: it delays no other.
const deliver = push<Order>({
  url: `http://127.0.0.1:${port}/orders`,
  secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
  allowPrivate: ["127.0.0.1"],
});
const options = { concurrency: 20, batch: 100 };
const failed = await drain(queueOf("partner"), deliver, options);
for (const name of Object.keys(done)) {
  const { completed } = await drain(queueOf(name), () => ({ done: true }), options);
  done[name] = completed;
}
await sweep(transport, { also: [topics] });

const { requests, commands } = gateway.usage();
const { delayed } = await queueOf("partner").counts();
const a = (total: number) => (total / count).toFixed(2);
console.log(
  [
    ...Object.entries(done).map(([name, number]) => `${name}: ${number} of ${count} orders`),
    `partner: 0 of ${count} orders, ${failed.requeued} attempts failed; ${delayed} deliveries wait for their next attempt.`,
    `On Upstash: ${a(requests)} requests and ${a(commands)} billed commands an order, $${dollars((commands * 1e6) / count).toFixed(2)} a million.`,
  ].join("\n"),
);
partner.close();
partner.closeAllConnections();
await gateway.close();
process.exit(done["billing"] === count && delayed === count ? 0 : 1);
