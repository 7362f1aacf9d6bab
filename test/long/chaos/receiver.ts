// A receiver of deliveries: it takes most of them, refuses some, and answers others not at all. Its ledger has what it
// took, before it answers.

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { RunProcess } from "./run-process.ts";
import type { Errand } from "./work.ts";

const { env, ledger, roll, ending } = new RunProcess();
const server = createServer((request, response) => {
  const receive = async () => {
    const { mark } = JSON.parse(await text(request)) as Errand;
    const lot = roll(10);
    if (lot === 0) response.writeHead(500).end();
    else if (lot === 1) request.socket.destroy();
    else {
      ledger.write({ what: "received", id: String(request.headers["webhook-id"]), mark });
      response.writeHead(200).end("taken");
    }
  };
  // A sender that was killed in the middle of its request.
  receive().catch(() => request.socket.destroy());
});
server.listen(Number(new URL(env.CHAOS_RECEIVER).port), "127.0.0.1");
ending.addEventListener("abort", () => {
  server.closeAllConnections();
  server.close();
});
