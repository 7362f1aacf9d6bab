import { createWriteStream, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Child, startChild } from "./child.ts";
import { StackError } from "./stack-error.ts";

/** The message that starts the host. */
export interface HostOptions {
  readonly config: string;
  /** The file of the Worker. @default `main` of the configuration */
  readonly entrypoint?: string | undefined;
  readonly port: number;
  readonly bindings: Readonly<Record<string, string>>;
}

/** The message from the host when the Worker is ready. */
interface HostReady {
  readonly url: string;
  readonly crons: readonly string[];
}

export type HostMessage = HostReady | { readonly log: string };

/** A Worker in real workerd. */
export interface LocalWorker {
  /** Such as `http://127.0.0.1:8787`. */
  readonly url: string;
  /** The cron expressions of its wrangler.toml. */
  readonly crons: readonly string[];
  readonly child: Child;
}

export interface LocalWorkerOptions extends HostOptions {
  /** The folder for wrangler's temporary files. It is created if it is missing. */
  readonly folder: string;
  /** The file for the output of wrangler and workerd. */
  readonly logFile: string;
  /** Called with each line that the Worker logs. */
  readonly log: (line: string) => void;
}

/** Beside wrangler, which only `npm start` and tests need. */
const host = fileURLToPath(new URL("../../../tools/workerd/worker-host.ts", import.meta.url));

/** Keeps wrangler off the network and silent. */
const quiet = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
};

/**
 * Bundles the Worker and starts it in workerd.
 * @throws {StackError} if it does not start
 */
export async function startLocalWorker(options: LocalWorkerOptions): Promise<LocalWorker> {
  const { config, entrypoint, port, bindings, folder, logFile, log } = options;
  mkdirSync(folder, { recursive: true });
  const { PATH, HOME } = process.env;
  const child = startChild(process.execPath, [host], {
    // A minimal environment, because its variables could become bindings of the Worker.
    env: { PATH, HOME, TMPDIR: folder, ...quiet },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const file = createWriteStream(logFile);
  let last = "";
  const keep = (text: string) => {
    file.write(text);
    last = (last + text).slice(-4_000);
  };
  child.process.stdout?.on("data", (chunk: Buffer) => keep(chunk.toString()));
  child.process.stderr?.on("data", (chunk: Buffer) => keep(chunk.toString()));

  const started = new Promise<HostReady>((resolve) => {
    child.process.on("message", (message: HostMessage) => {
      if ("url" in message) return resolve(message);
      keep(`${message.log}\n`);
      return log(message.log);
    });
  });
  child.process.send({ config, entrypoint, port, bindings } satisfies HostOptions);
  const outcome = await Promise.race([started, child.ended]);
  if ("url" in outcome) return { ...outcome, child };
  throw new StackError(`the Worker ${outcome.description}\n${last}`.trimEnd());
}
