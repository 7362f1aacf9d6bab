import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { type Answer, drop } from "./response.ts";
import type { Feed } from "./feed.ts";

/** Told to clients that send none, so that they have one to send. */
const firstSyncToken = randomBytes(12).toString("base64url");

/** Sends an answer, or as much of it as a fault leaves. */
export function send(request: IncomingMessage, response: ServerResponse, answered: Answer): void {
  const { status, body, contentType = "application/json", cut, sent = () => {} } = answered;
  if (cut === "before" || request.socket.destroyed) {
    drop(answered);
    request.socket.destroy();
    return;
  }
  const headers = {
    "content-type": contentType,
    "upstash-sync-token": request.headers["upstash-sync-token"] || firstSyncToken,
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

/** Either end that goes away takes the other with it. */
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
