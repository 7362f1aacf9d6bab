import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { type GatewayResponse, discard } from "./response.ts";
import type { Feed } from "./feed.ts";

/**
 * Sends a response, or the part of it that a fault allows.
 * @param syncToken what a client sends back to read what was written before; here each read does so
 */
export function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  result: GatewayResponse,
  syncToken: string,
): void {
  const { status, body, contentType = "application/json", cut, sent = () => {} } = result;
  if (cut === "before" || request.socket.destroyed) {
    discard(result);
    request.socket.destroy();
    return;
  }
  const headers = {
    "content-type": contentType,
    "upstash-sync-token": syncToken,
  };
  if (body instanceof Readable) {
    response.writeHead(status, { ...headers, "cache-control": "no-cache" });
    if (cut) cutStream(request, response, body);
    else stream(response, body, sent);
    return;
  }
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, "content-length": bytes.length });
  if (cut) {
    response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy());
  } else {
    sent(bytes.length);
    response.end(request.method === "HEAD" ? undefined : bytes);
  }
}

/** Streams a feed. If one end closes, the other closes too. */
function stream(response: ServerResponse, feed: Feed, sent: (bytes: number) => void): void {
  feed.on("data", (event: Buffer) => sent(event.length));
  pipeline(feed, response, () => {});
}

/** Sends the confirmation and half of the first event. */
function cutStream(request: IncomingMessage, response: ServerResponse, feed: Feed): void {
  response.once("close", () => feed.destroy());
  feed.once("end", () => response.end());
  let confirmed = false;
  feed.on("data", (chunk: Buffer) => {
    if (confirmed) {
      feed.destroy();
      response.write(chunk.subarray(0, chunk.length / 2), () => request.socket.destroy());
    } else {
      confirmed = true;
      response.write(chunk);
    }
  });
}
