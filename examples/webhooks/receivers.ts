// The endpoints of the tenants: HTTP servers, each with its own behaviour. They record each request in a file
// before they respond, as a reliable receiver does. The closing table counts only that file, not the queue's
// own numbers.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Endpoint } from "./deliver.ts";
import type { ReceivedRequest } from "./deliveries.ts";
import { type Behaviour, tenants } from "./endpoints.ts";
import { digest } from "./events.ts";
import { required } from "./settings.ts";
import { newSecret, verify } from "./signature.ts";

const file = required("DELIVERIES_FILE");
const endpoints: Record<string, Endpoint> = {};

for (const { name, behaviour } of tenants) {
  const secret = newSecret();
  const server = createServer(
    (request, response) => void receive(name, secret, behaviour, request, response),
  );
  if (behaviour === "down") server.on("connection", (socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  endpoints[name] = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`, secret };
}
process.send?.({ endpoints });
process.once("disconnect", () => process.exit(0));

async function receive(
  receiver: string,
  secret: string,
  behaviour: Behaviour,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers } = request;
  let body = "";
  try {
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
  } catch {
    // The sender disconnected before the end of the body.
    return;
  }
  const event = String(headers["webhook-id"]);
  const attempt = Number(headers["webhook-attempt"]);
  const status = verify(secret, headers, body) ? await behave(behaviour, `${event} ${attempt}`) : 401;
  const by = String(headers["user-agent"]);
  const line: ReceivedRequest = { receiver, event, attempt, status, by, body: digest(body), at: Date.now() };
  appendFileSync(file, `${JSON.stringify(line)}\n`);
  response.writeHead(status).end();
}

/** Decides pseudo-randomly; the same attempt always gets the same result. */
async function behave(behaviour: Behaviour, attempt: string): Promise<number> {
  const chance = createHash("sha256").update(attempt).digest().readUInt32BE() / 2 ** 32;
  if (behaviour === "slow") await sleep(chance < 0.03 ? 3_000 : 150 + chance * 250);
  if (behaviour === "flaky" && chance < 0.2) return 500;
  return behaviour === "gone" ? 410 : 204;
}
