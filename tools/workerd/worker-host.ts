// Runs a Worker in workerd. It is a process of its own because wrangler installs signal
// and exit handlers, and because ending its process group always ends workerd too.

import { devNull } from "node:os";
import { unstable_readConfig as readConfig, unstable_startWorker as startWorker } from "wrangler";
import type { HostMessage, HostOptions } from "../../src/local/stack/worker.ts";

const sendMessage = (message: HostMessage) => process.send?.(message);

process.once("message", (options: HostOptions) => void start(options));

async function start({ config, entrypoint, port, bindings }: HostOptions): Promise<void> {
  const texts = Object.entries(bindings).map(([name, value]) => [name, { type: "plain_text", value }]);
  const worker = await startWorker({
    config,
    ...(entrypoint !== undefined && { entrypoint }),
    bindings: Object.fromEntries(texts),
    // Neither .env nor .dev.vars, which may name a real database.
    envFiles: [devNull],
    dev: {
      server: { hostname: "127.0.0.1", port },
      inspector: false,
      watch: false,
      persist: false,
      logLevel: "warn",
      structuredLogsHandler: ({ message }: { message: string }) => sendMessage({ log: message }),
    },
  });
  await worker.ready;
  sendMessage({ url: (await worker.url).origin, crons: readConfig({ config }).triggers.crons ?? [] });

  const stop = async () => {
    await worker.dispose();
    process.exit(0);
  };
  process.once("SIGTERM", () => void stop());
  process.once("disconnect", () => void stop());
}
