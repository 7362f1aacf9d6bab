import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer, type Socket } from "node:net";
import { onTestFinished, vi } from "vitest";
import {
  sendTo,
  type Delivered,
  type OutgoingRequest,
  type UrlPolicy,
} from "../../../src/features/push/index.ts";
import { listening } from "../../support/listening.ts";

/** A server that answers bytes as it likes. */
export interface Hostile {
  readonly url: string;
  /** What came, as text: one for each connection. */
  readonly requests: string[];
  /** Resolves when all connections are closed, of which there was one. */
  readonly closed: Promise<void>;
}

/** @param answer is called with the first bytes of each connection, and writes what it likes */
export async function startHostile(answer: (socket: Socket, nth: number) => void): Promise<Hostile> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let onClosed = () => {};
  const closed = new Promise<void>((resolve) => (onClosed = resolve));
  const server = createServer((socket) => {
    const nth = requests.push("") - 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) onClosed();
    });
    socket.once("data", () => answer(socket, nth));
    socket.on("data", (bytes) => (requests[nth] += bytes.toString("latin1")));
  });
  const port = await listening(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/hook`, requests, closed };
}

/** Writes as much as the other side takes, until it closes the connection. */
export function forever(socket: Socket, bytes: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes)) {
      // The buffer has room.
    }
  };
  socket.on("drain", more);
  more();
}

/** A policy for the servers of a test. */
export const here: UrlPolicy = { allow: ["127.0.0.1"], allowPrivate: ["127.0.0.1"] };

/** Sends as in a runtime with `node:http`, or as in one that has only `fetch`. */
export type Via = "node:http" | "fetch";

export function sendVia(via: Via, request: OutgoingRequest, policy: UrlPolicy = here): Promise<Delivered> {
  if (via === "fetch") {
    vi.stubGlobal("EdgeRuntime", "edge-runtime");
    onTestFinished(() => void vi.unstubAllGlobals());
  }
  return sendTo(request, policy);
}

/** Resolves when this process has got the headers of a response. */
export function headersReceived(): Promise<void> {
  return new Promise((resolve) => {
    const channels = ["http.client.response.finish", "undici:request:headers"];
    const done = () => {
      for (const channel of channels) unsubscribe(channel, done);
      resolve();
    };
    for (const channel of channels) subscribe(channel, done);
  });
}
