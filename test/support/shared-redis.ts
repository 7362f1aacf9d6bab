import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";
import { startRedis, type TestRedis } from "./redis.ts";

/** A Redis that a test file has for itself while it runs, and that the next file of the same process gets. */
export interface SharedRedis extends Pick<TestRedis, "url" | "port"> {
  /** Returns it for the next test file. */
  stop(): Promise<void>;
}

interface Server {
  readonly redis: TestRedis;
  /** Its configuration and users at its start. */
  readonly settings: string;
  /** Whether a test file uses it. */
  taken: boolean;
}

const servers = new Set<Server>();

/** How long the connections of the previous file may take to end, ms. */
const LEAVE_WITHIN = 500;

/**
 * A Redis as new: without keys, scripts, statistics or clients. A process runs one test file at a time, and
 * its files hand on one server, except if a file leaves it with a connection or another configuration: then
 * the next file gets a new one. A test that stops Redis, or needs arguments for it, calls {@link startRedis}
 * instead.
 */
export async function sharedRedis(): Promise<SharedRedis> {
  const server = (await reuse()) ?? (await start());
  return {
    url: server.redis.url,
    port: server.redis.port,
    async stop() {
      server.taken = false;
    },
  };
}

async function reuse(): Promise<Server | undefined> {
  for (const server of servers) {
    if (server.taken) continue;
    server.taken = true;
    if (await isAsNew(server)) return server;
    servers.delete(server);
    await server.redis.stop();
  }
  return undefined;
}

async function start(): Promise<Server> {
  if (servers.size === 0) process.once("SIGTERM", () => void endAll());
  const redis = await startRedis();
  const settings = await connected(redis.url, settingsOf);
  const server = { redis, settings, taken: true };
  servers.add(server);
  return server;
}

/** Vitest ends its processes so. A server that they wait for counts in their CPU time, which the gate prints. */
async function endAll(): Promise<never> {
  await Promise.allSettled(Array.from(servers, ({ redis }) => redis.stop()));
  process.exit(143);
}

/** Empties it. Returns false if its state at the start cannot be restored. */
async function isAsNew({ redis, settings }: Server): Promise<boolean> {
  try {
    return await connected(redis.url, async (send) => {
      for (const deadline = Date.now() + LEAVE_WITHIN; (await clientsOf(send)) > 1; await sleep(5)) {
        if (Date.now() > deadline) return false;
      }
      await send("FLUSHALL", "SYNC");
      await send("SCRIPT", "FLUSH", "SYNC");
      await send("CONFIG", "RESETSTAT");
      return (await settingsOf(send)) === settings;
    });
  } catch {
    return false;
  }
}

type Send = (...command: string[]) => Promise<unknown>;

const settingsOf = async (send: Send) =>
  JSON.stringify([await send("CONFIG", "GET", "*"), await send("ACL", "LIST")]);

const clientsOf = async (send: Send) =>
  String(await send("CLIENT", "LIST"))
    .trimEnd()
    .split("\n").length;

async function connected<T>(url: string, run: (send: Send) => Promise<T>): Promise<T> {
  const client = createClient({ url, RESP: 2, socket: { reconnectStrategy: false } });
  client.on("error", () => {});
  await client.connect();
  try {
    return await run((...command) => client.sendCommand(command));
  } finally {
    client.destroy();
  }
}
