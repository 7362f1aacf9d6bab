import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Child, startChild } from "./child.ts";
import { StackError } from "./stack-error.ts";

/** The command `sluice serve` in a process of its own. */
export interface LocalServer {
  /** Such as `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly child: Child;
}

export interface LocalServerOptions {
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  /** Called with each line that it prints. */
  readonly log: (line: string) => void;
}

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/**
 * Starts the deployment on Node, with the dashboard.
 * @throws {StackError} if it does not start
 */
export async function startLocalServer({ port, env, log }: LocalServerOptions): Promise<LocalServer> {
  const args = ["serve", "--dashboard", "--host", "127.0.0.1", "--port", String(port)];
  const { PATH, HOME } = process.env;
  const child = startChild(process.execPath, [main, ...args], {
    // A minimal environment, because some variables are settings of a deployment.
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { stdout, stderr } = child.process;
  const printed: string[] = [];
  if (stderr) createInterface(stderr).on("line", (line) => (printed.push(line), log(line)));
  const started = new Promise<string>((resolve) => {
    if (!stdout) return;
    createInterface(stdout).on("line", (line) => {
      const [, url] = /^Sluice answers at (\S+)$/.exec(line) ?? [];
      if (url !== undefined) return resolve(url);
      if (!line.startsWith("Its dashboard is ")) log(line);
    });
  });
  const outcome = await Promise.race([started, child.ended]);
  if (typeof outcome === "string") return { url: outcome, child };
  throw new StackError(`the server ${outcome.description}\n${printed.join("\n")}`.trimEnd());
}
