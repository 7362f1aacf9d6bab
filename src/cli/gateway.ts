import { once } from "node:events";
import { connect } from "node:net";
import { parseArgs } from "node:util";
import { messageOf } from "../errors.ts";
import { EmbeddedDatabase, startGateway } from "../local/index.ts";
import { refuseOtherData } from "../local/stack/database.ts";
import { type KeptDatabase, openKeptDatabase } from "../local/stack/embedded.ts";
import { requirePackages } from "./packages.ts";
import { onPort, readPortOption } from "./port.ts";
import { type Subcommand, UsageError } from "./subcommand.ts";

const usage = `Usage: sluice gateway [options]

Serves a Redis over the Upstash REST protocol, so that Upstash clients can use it. Without a Redis it serves
the embedded store. For a Redis it needs the package @redis/client.

Options:
  --redis <url>             redis:// or rediss:// (default: REDIS_URL, else redis://127.0.0.1:6379 if it
                            answers there, else the embedded store)
  --embedded                serve the embedded store in any case
  --data <folder>           folder in which the embedded store keeps its data for the next start. A crash loses
                            at most the last 5 seconds (default: none, the data ends with the gateway)
  --port <number>           port to listen on; 0 for any free one (default: 8079)
  --host <address>          address to listen on (default: 127.0.0.1)
  --token <text>            the standard token (default: a random one)
  --read-only-token <text>  a token for reading only (default: none)
  --strict-keys <which>     in which scripts to refuse undeclared keys: flagged (those with the flag
                            allow-key-locking, as on Upstash) or always (all) (default: flagged)
`;

export const gateway: Subcommand = {
  summary: "serve a Redis, or the embedded store, over the Upstash REST protocol",
  usage,
  async run(args, env) {
    const options = readOptions(args);
    if (options.embedded && options.redis !== undefined)
      throw new UsageError("--embedded must not be given with --redis");
    const redisUrl = options.embedded
      ? undefined
      : (options.redis ?? (env["REDIS_URL"] || (await runningRedis())));
    if (redisUrl !== undefined && options.data !== undefined)
      throw new UsageError(
        `--data is for the embedded store, and ${withoutPassword(redisUrl)} would be served; add --embedded`,
      );
    if (redisUrl !== undefined && !/^rediss?:\/\//.test(redisUrl))
      throw new UsageError("--redis or REDIS_URL must begin with redis:// or rediss://");
    const port = readPortOption("--port", options.port) ?? 8079;
    const strictKeys = readStrictKeys(options["strict-keys"]);
    if (redisUrl !== undefined) await requirePackages("sluice gateway", ["@redis/client"]);
    const log = (line: string) => process.stderr.write(`${line}\n`);
    const store = redisUrl === undefined ? openStore(options.data, log) : undefined;
    const serving = await onPort("--port", port, () =>
      startGateway({
        redisUrl,
        database: store?.database,
        port,
        host: options.host,
        token: options.token,
        readOnlyToken: options["read-only-token"],
        strictKeys,
        log,
      }),
    );
    const readOnly = options["read-only-token"];
    process.stdout.write(
      [
        `# ${store ? described(store.database, options.data) : withoutPassword(redisUrl as string)} over the Upstash REST protocol. Ctrl-C ends it.`,
        `UPSTASH_REDIS_REST_URL=${serving.url}`,
        `UPSTASH_REDIS_REST_TOKEN=${serving.token}`,
        ...(readOnly === undefined ? [] : [`UPSTASH_REDIS_REST_READONLY_TOKEN=${readOnly}`]),
        "",
      ].join("\n"),
    );
    const end = () => void serving.close().then(() => store?.close());
    process.once("SIGINT", end);
    process.once("SIGTERM", end);
  },
};

/** The Redis at its usual port on this machine; undefined if there is none. */
async function runningRedis(): Promise<string | undefined> {
  const socket = connect(6379, "127.0.0.1");
  try {
    await once(socket, "connect");
    return "redis://127.0.0.1:6379";
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

function readOptions(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        redis: text,
        embedded: { type: "boolean", default: false },
        data: text,
        port: text,
        host: text,
        token: text,
        "read-only-token": text,
        "strict-keys": text,
      },
    }).values;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function readStrictKeys(given = "flagged"): "flagged" | "always" {
  if (given === "flagged" || given === "always") return given;
  throw new UsageError("--strict-keys must be flagged or always");
}

function openStore(folder: string | undefined, log: (line: string) => void): KeptDatabase {
  if (folder === undefined) return { database: new EmbeddedDatabase(), close: () => {} };
  refuseOtherData(folder, "appendonlydir", "a redis-server", "the embedded store cannot read it");
  return openKeptDatabase(folder, log);
}

function described(database: EmbeddedDatabase, folder: string | undefined): string {
  const kept = folder === undefined ? "keeps no data" : `keeps its data in ${folder}`;
  return `The embedded store, which ${kept} and has ${String(database.call("COMMAND", "COUNT"))} commands (COMMAND LIST),`;
}

function withoutPassword(redisUrl: string): string {
  const url = new URL(redisUrl);
  if (url.password !== "") url.password = "…";
  return url.href;
}
