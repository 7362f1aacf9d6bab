import { accessSync, appendFileSync, constants, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Child, startChild } from "./child.ts";
import { freePort } from "./port.ts";
import { StackError } from "./stack-error.ts";

/** A redis-server that this process started. */
export interface RedisServer {
  /** Such as `redis://127.0.0.1:20017`. */
  readonly url: string;
  readonly child: Child;
}

/** Whether there is a redis-server on the PATH. */
export function hasRedisServer(path = process.env["PATH"] ?? ""): boolean {
  const names = process.platform === "win32" ? ["redis-server.exe"] : ["redis-server"];
  return path
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .some(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts the redis-server of the PATH on a free loopback port. After a crash, at most the last second of
 * writes is lost.
 * @param folder for its data and its log; it is created if it is missing
 * @throws {StackError} if there is no redis-server, or it does not start
 */
export async function startRedisServer(folder: string): Promise<RedisServer> {
  mkdirSync(folder, { recursive: true });
  for (let tries = 0; tries < 5; tries++) {
    const server = await tryPort(folder, await freePort());
    if (server) return server;
  }
  throw new StackError("redis-server found no free port");
}

/** @returns `undefined` if another process took the port first */
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
  throw new StackError(`redis-server ${outcome.description}\n${log}`.trimEnd());
}
