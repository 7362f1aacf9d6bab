import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { noteBlocks } from "../coverage/notes.ts";

/** A real redis-server for one test. */
export interface TestRedis {
  /** Such as `redis://127.0.0.1:20017`. */
  readonly url: string;
  readonly port: number;
  /** The folder of its data, if its arguments make it keep any. */
  readonly folder: string;
  /** Ends the server with SIGKILL, as a crash does. Its files are kept. */
  kill(): Promise<void>;
  /** Sends the server a signal, such as `SIGSTOP`. */
  signal(signal: NodeJS.Signals): void;
  /** After {@link kill}: starts it again with the same arguments, on the same port and data folder. */
  restart(): Promise<void>;
  /** Kills the server and removes its data folder. */
  stop(): Promise<void>;
}

export interface StartRedisOptions {
  /** Its program. @default "redis-server" */
  readonly program?: string | undefined;
  /** Further arguments of redis-server, such as `["--maxmemory", "10mb"]`. */
  readonly args?: readonly string[];
  /** The range of its port. @default 20,000 to 32,000 */
  readonly ports?: readonly [first: number, last: number];
}

/** Below the range of ephemeral ports, so that no outgoing connection takes one away. */
const firstPort = 20_000;
const lastPort = 32_000;
const startDeadline = 20_000;

/**
 * Starts a redis-server on a free loopback port, with an empty data folder and no persistence.
 * It ends with {@link TestRedis.stop}, or with this process, however that ends.
 */
export async function startRedis({
  program = "redis-server",
  args = [],
  ports: [first, last] = [firstPort, lastPort],
}: StartRedisOptions = {}): Promise<TestRedis> {
  for (let tries = 0; tries < 20; tries++) {
    const port = first + Math.floor(Math.random() * (last - first));
    const redis = await tryPort(port, [program, ...args]);
    if (redis) return redis;
  }
  throw new Error(`no free port found between ${first} and ${last}`);
}

/** @param command the program and its arguments */
async function tryPort(port: number, command: readonly string[]): Promise<TestRedis | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-redis-"));
  let server: Awaited<ReturnType<typeof launch>>;
  const stop = async () => {
    await server?.kill();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    server = await launch(port, folder, command);
  } catch (error) {
    await stop();
    throw error;
  }
  if (!server) {
    await stop();
    return undefined;
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    kill: async () => server?.kill(),
    signal: (signal) => server?.signal(signal),
    async restart() {
      server = await launch(port, folder, command);
      if (!server) throw new Error(`port ${port} was taken while the server was down`);
    },
    stop,
  };
}

/**
 * Starts a server, and waits until it answers.
 * @returns undefined if the port is taken
 */
async function launch(
  port: number,
  folder: string,
  [program = "", ...args]: readonly string[],
): Promise<{ kill(): Promise<void>; signal(signal: NodeJS.Signals): void } | undefined> {
  const own = [
    "--bind",
    "127.0.0.1",
    "--port",
    String(port),
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "no",
  ];
  const server = spawn(program, [...own, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  noteBlocks(server.stdout);
  server.stdout.on("data", (chunk: Buffer) => (log += chunk.toString()));
  server.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  let failure: Error | undefined;
  server.on("error", (error) => (failure = error));
  const closed = once(server, "close").catch(() => undefined);
  const guard = startGuard(server, folder);

  const kill = async () => {
    server.kill("SIGKILL");
    await closed;
    guard?.kill("SIGKILL");
  };

  for (const deadline = Date.now() + startDeadline; ; await sleep(10)) {
    if (failure) {
      await kill();
      throw new Error(`${program} does not start: ${failure.message}`);
    }
    if (server.exitCode !== null || server.signalCode !== null) {
      await kill();
      if (/address already in use/i.test(log)) return undefined;
      throw new Error(`${program} ended before it was ready:\n${log}`);
    }
    // The process id distinguishes our server from another one that had the port already.
    if (server.pid !== undefined && (await answeringProcess(port)) === server.pid)
      return { kill, signal: (signal) => void server.kill(signal) };
    if (Date.now() > deadline) {
      await kill();
      throw new Error(`${program} was not ready within ${startDeadline} ms:\n${log}`);
    }
  }
}

/**
 * A shell that waits for this process to end, which closes its input, and then kills the server:
 * this works after a SIGKILL too, after which no exit handler runs.
 */
function startGuard(server: ChildProcess, folder: string): ChildProcess | undefined {
  if (server.pid === undefined) return undefined;
  const script = `trap "" INT TERM HUP; read -r _; kill -9 "$1" 2>/dev/null; rm -rf "$2"`;
  const guard = spawn("sh", ["-c", script, "redis-guard", String(server.pid), folder], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  return guard;
}

/** The process id of the Redis that answers PING on the port, if one does. */
function answeringProcess(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let reply = "";
    const end = (pid?: number) => {
      socket.destroy();
      resolve(pid);
    };
    socket.setTimeout(1_000, () => end());
    socket.on("error", () => end());
    socket.on("close", () => end());
    socket.on("connect", () => socket.write("PING\r\nINFO server\r\n"));
    socket.on("data", (chunk: Buffer) => {
      reply += chunk.toString();
      const pid = /process_id:(\d+)\r\n/.exec(reply)?.[1];
      // A server that is still loading reports its process id too, but no pong.
      if (pid !== undefined) end(reply.startsWith("+PONG") ? Number(pid) : undefined);
    });
  });
}
