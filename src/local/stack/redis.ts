import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Child, startChild } from "./child.ts";
import { freePort } from "./port.ts";
import { StackError } from "./stack-error.ts";

/** A redis-server of one's own. */
export interface RedisServer {
  /** Such as `redis://127.0.0.1:20017`. */
  readonly url: string;
  readonly child: Child;
}

/**
 * Starts the redis-server of the PATH on a free loopback port. What it acknowledged survives its
 * crash but for the last second.
 * @param folder where its data and its log go; made where it is missing
 * @throws {StackError} where there is none, or it does not start
 */
export async function startRedisServer(folder: string): Promise<RedisServer> {
  mkdirSync(folder, { recursive: true });
  for (let tries = 0; tries < 5; tries++) {
    const server = await tryPort(folder, await freePort());
    if (server) return server;
  }
  throw new StackError("redis-server found no free port");
}

/** @returns undefined where another process was faster to take the port */
async function tryPort(folder: string, port: number): Promise<RedisServer | undefined> {
  const settings = {
    bind: "127.0.0.1",
    port: String(port),
    dir: folder,
    save: "",
    appendonly: "yes",
    appendfsync: "everysec",
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = startChild("redis-server", args, { stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  const ready = new Promise<"ready">((resolve) => {
    const read = (chunk: Buffer) => {
      appendFileSync(join(folder, "redis.log"), chunk);
      log = (log + chunk.toString()).slice(-4_000);
      if (/ready to accept connections/i.test(log)) resolve("ready");
    };
    child.process.stdout?.on("data", read);
    child.process.stderr?.on("data", read);
  });
  const outcome = await Promise.race([ready, child.ended]);
  if (outcome === "ready") return { url: `redis://127.0.0.1:${port}`, child };
  if (/address already in use/i.test(log)) return undefined;
  throw new StackError(`redis-server ${outcome.words}\n${log}`.trimEnd());
}
