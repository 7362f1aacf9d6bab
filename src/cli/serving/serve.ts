import { Command } from "commander";
import { readConfig } from "../../config.ts";
import type { Duration } from "../../kernel/options/duration.ts";
import { serve } from "../../../serverless/node.ts";
import type { Io } from "../io.ts";
import { requirePackages } from "./packages.ts";
import { onPort, portOption } from "./port.ts";

interface ServeOptions {
  readonly port?: number;
  readonly host?: string;
  readonly every?: Duration;
  readonly dashboard?: boolean;
}

export function serveCommand({ env, stdout, stderr }: Io): Command {
  return new Command("serve")
    .summary("serve the HTTP interface and sweep every minute")
    .description(
      `Serves the HTTP interface and sweeps every minute, until SIGTERM or Ctrl-C. Any number of such processes can run at the same time. It has no consumers: to add your own, see serve() in sluice-queue/node.
Needs the package @hono/node-server; with REDIS_URL also @redis/client.

Reads from the environment: UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, or REDIS_URL; SLUICE_TOKENS, CRON_SECRET, SLUICE_PREFIX, SLUICE_WAKE_URL, SLUICE_WAKE_SECRET.`,
    )
    .addOption(portOption("--port", "port to listen on; 0 for any free one (default: PORT, else 8787)"))
    .option("--host <address>", "address to listen on (default: all addresses)")
    .option("--every <duration>", "interval of the sweep, such as 10s; at least 1s (default: 1m)")
    .option("--dashboard", "also serve the dashboard, at /dashboard")
    .action(async ({ host: hostname, port, every, dashboard }: ServeOptions) => {
      const { redis, tokens } = readConfig(env);
      await requirePackages("sluice serve", [
        "@hono/node-server",
        ...("redisUrl" in redis ? (["@redis/client"] as const) : []),
      ]);
      const { url } = await onPort("--port", port, () => serve({ env, port, hostname, every, dashboard }));
      if (tokens.length === 0)
        stderr.write("SLUICE_TOKENS is not set, so no request is let in; sluice token makes tokens\n");
      stdout.write(`Sluice answers at ${url}\n`);
      if (dashboard) stdout.write(`Its dashboard is ${url}/dashboard\n`);
    });
}
