import { parseArgs } from "node:util";
import { readConfig } from "../config.ts";
import { messageOf } from "../errors.ts";
import type { Duration } from "../queue/core/duration.ts";
import { serve as serveFromNode } from "../../serverless/node.ts";
import { requirePackages } from "./packages.ts";
import { onPort, readPortOption } from "./port.ts";
import { type Subcommand, UsageError } from "./subcommand.ts";

const usage = `Usage: sluice serve [options]

Serves the HTTP interface and sweeps every minute, until SIGTERM or Ctrl-C. Any number of such processes can
run at the same time. It has no consumers: to add your own, see serve() in sluice-queue/node.
Needs the package @hono/node-server; with REDIS_URL also @redis/client.

Options:
  --port <number>     port to listen on; 0 for any free one (default: PORT, else 8787)
  --host <address>    address to listen on (default: all addresses)
  --every <duration>  interval of the sweep, such as 10s; at least 1s (default: 1m)

Reads from the environment: UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, or REDIS_URL; SLUICE_TOKENS,
CRON_SECRET, SLUICE_PREFIX, SLUICE_WAKE_URL, SLUICE_WAKE_SECRET.
`;

export const serve: Subcommand = {
  summary: "serve the HTTP interface and sweep every minute",
  usage,
  async run(args, env) {
    const { host: hostname, ...options } = readOptions(args);
    // `serve` checks it.
    const every = options.every as Duration | undefined;
    const port = readPortOption("--port", options.port);
    const overTcp = "redisUrl" in readConfig(env).redis;
    await requirePackages("sluice serve", [
      "@hono/node-server",
      ...(overTcp ? (["@redis/client"] as const) : []),
    ]);
    const { url } = await onPort("--port", port, () => serveFromNode({ env, port, hostname, every }));
    process.stdout.write(`Sluice answers at ${url}\n`);
  },
};

function readOptions(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({ args: [...args], options: { port: text, host: text, every: text } }).values;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}
