import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { once } from "node:events";
import { listening } from "../support/listening.ts";

/** A TCP proxy in front of a Redis that can lose replies, hold them back and break connections. */
export interface Proxy {
  /** `redis://` URL of the proxy. */
  readonly url: string;
  /** Connections that were opened so far. */
  connections(): number;
  /** Those of them that are open. */
  open(): number;
  /** The port to which the next connections lead. */
  leadTo(port: number): void;
  /** Breaks the connection in place of the next replies. @default 1 */
  loseReplies(count?: number): void;
  /** Answers the next request with these bytes. It does not reach Redis. */
  answerNext(bytes: string): void;
  /**
   * Keeps back the replies on the connections there are now until {@link Proxy.release}; resolves
   * when there is the first.
   */
  hold(): Promise<void>;
  /** The same on the connections that are opened from now on. */
  holdNew(): Promise<void>;
  /** Gives the replies that are kept back, and loses none any more. */
  release(): void;
  /** Breaks all connections. */
  breakAll(): void;
  stop(): Promise<void>;
}

export async function startProxy(firstPort: number): Promise<Proxy> {
  let target = firstPort;
  let opened = 0;
  let losing = 0;
  let answer: string | undefined;
  let held: (() => void)[] = [];
  let holding = new Set<Socket>();
  let holdsNew = false;
  let onHeld: (() => void) | undefined;
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    opened++;
    if (holdsNew) holding.add(client);
    const redis = connect(target, "127.0.0.1");
    for (const [socket, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (chunk) => {
      if (answer === undefined) redis.write(chunk);
      else client.write(answer);
      answer = undefined;
    });
    redis.on("data", (chunk) => {
      if (losing > 0) {
        losing--;
        client.destroy();
      } else if (holding.has(client)) {
        held.push(() => client.write(chunk));
        onHeld?.();
      } else {
        client.write(chunk);
      }
    });
  });
  const port = await listening(server);

  const breakAll = () => sockets.forEach((socket) => socket.destroy());
  return {
    url: `redis://127.0.0.1:${port}`,
    connections: () => opened,
    open: () => sockets.size / 2,
    leadTo: (next) => void (target = next),
    loseReplies: (count = 1) => void (losing = count),
    answerNext: (bytes) => void (answer = bytes),
    hold: () => {
      holding = new Set(sockets);
      return new Promise((resolve) => (onHeld = resolve));
    },
    holdNew: () => {
      holdsNew = true;
      return new Promise((resolve) => (onHeld = resolve));
    },
    release: () => {
      for (const write of held) write();
      held = [];
      holding = new Set();
      holdsNew = false;
      losing = 0;
    },
    breakAll,
    stop: async () => {
      breakAll();
      server.close();
      await once(server, "close");
    },
  };
}
