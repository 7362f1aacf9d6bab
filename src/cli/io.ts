import process from "node:process";
import type { Readable } from "node:stream";
import type { Variables } from "../environment.ts";

/** Where a command writes. */
export interface Writer {
  write(text: string): unknown;
  /** True if a person reads it: tables and colours instead of JSON. */
  readonly isTTY?: boolean | undefined;
  /** Width of the terminal, in characters. */
  readonly columns?: number | undefined;
}

/** The world of a command. Tests make their own. */
export interface Io {
  readonly env: Variables;
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined; readonly fd?: number };
  readonly stdout: Writer;
  readonly stderr: Writer;
  /** Aborts when the person presses Ctrl-C. Commands that follow something then end. */
  readonly interrupted: AbortSignal;
}

/** The process's own terminal, pipes and environment. The first Ctrl-C aborts; the second one kills. */
export function processIo(): Io {
  const interrupt = new AbortController();
  const { stdin, stdout, stderr, env } = process;
  return {
    env,
    stdin,
    stdout,
    stderr,
    get interrupted() {
      // Installed at first use: servers have signal handlers of their own.
      if (!interrupt.signal.aborted && process.listenerCount("SIGINT") === 0)
        process.once("SIGINT", () => interrupt.abort());
      return interrupt.signal;
    },
  };
}
