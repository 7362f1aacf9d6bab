// Runs the Worker of wrangler.toml in workerd, in a process of its own: wrangler installs signal and exit
// handlers, and ending this process's group ends workerd too, whatever happened.

import { devNull } from "node:os";
import { unstable_readConfig as readConfig, unstable_startWorker as startWorker } from "wrangler";

/** What the host is told, once, when it starts. */
export interface HostOptions {
  readonly config: string;
  readonly port: number;
  readonly bindings: Readonly<Record<string, string>>;
}

/** What the host tells once the Worker answers. */
export interface HostReady {
  readonly url: string;
  readonly crons: readonly string[];
}

export type HostMessage = HostReady | { readonly log: string };

const tell = (message: HostMessage) => process.send?.(message);

process.once("message", (options: HostOptions) => void start(options));

async function start({ config, port, bindings }: HostOptions): Promise<void> {
  const texts = Object.entries(bindings).map(([name, value]) => [name, { type: "plain_text", value }]);
  const worker = await startWorker({
    config,
    bindings: Object.fromEntries(texts),
    // Neither .env nor .dev.vars: they may lead to a real database.
    envFiles: [devNull],
    dev: {
      server: { hostname: "127.0.0.1", port },
      inspector: false,
      watch: false,
      persist: false,
      logLevel: "warn",
      structuredLogsHandler: ({ message }: { message: string }) => tell({ log: message }),
    },
  });
  await worker.ready;
  tell({ url: (await worker.url).origin, crons: readConfig({ config }).triggers.crons ?? [] });

  const stop = async () => {
    await worker.dispose();
    process.exit(0);
  };
  process.once("SIGTERM", () => void stop());
  process.once("disconnect", () => void stop());
}
