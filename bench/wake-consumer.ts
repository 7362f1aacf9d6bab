// The consumer of bench/wake.ts, in a process of its own: it drains when woken, and reports when a handler
// starts.

import { createAdaptorServer } from "@hono/node-server";
import type { AddressInfo } from "node:net";
import { drain, Queue, wakeReceiver } from "../src/index.ts";
import { upstash } from "../src/transports/upstash.ts";

const [url = "", token = "", secret = ""] = process.argv.slice(2);
const now = () => performance.timeOrigin + performance.now();
const report = (id: string, startedAt: number) => process.send?.({ id, startedAt });

const emails = new Queue("bench", { transport: upstash({ url, token }) });
const receive = wakeReceiver({
  secret,
  drain: () =>
    drain(emails, ({ id }) => {
      report(id, now());
    }),
});

const server = createAdaptorServer({
  fetch: (request) => {
    if (new URL(request.url).pathname === "/wake") return receive(request, { waitUntil: () => {} });
    report(request.headers.get("task-id") ?? "", now());
    return new Response();
  },
});
server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
