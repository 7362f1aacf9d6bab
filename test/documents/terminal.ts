import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { run } from "../../src/cli/run.ts";
import { essentials } from "../support/environment.ts";

/** What the `sluice` of the shell asks this process to run. */
interface Call {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether the output goes to the screen, and not to a pipe or a file. */
  readonly shown: boolean;
  /** Undefined if the standard input is the keyboard. */
  readonly stdin?: string;
}

/** What a command line of a page prints. */
export interface Shown {
  /** What is on the screen, without colours. */
  readonly screen: string;
  readonly code: number;
}

const PROGRAMS = [
  ["sluice", fileURLToPath(new URL("sluice.mjs", import.meta.url))],
  ["curl", fileURLToPath(new URL("curl.mjs", import.meta.url))],
] as const;
const COLUMNS = 100;

/**
 * A shell that runs the commands of a page. Its `sluice` runs in this process, so that tests can move the clock. As on
 * a terminal, `sluice` prints tables to the screen, and JSON to a pipe or a file.
 */
export class Terminal {
  /** The working directory. */
  readonly folder: string;
  readonly #bin: string;
  readonly #server;
  #interrupt = new AbortController();
  #onScreen: ((screen: string) => boolean) | undefined;

  readonly #names: Readonly<Record<string, string>>;

  private constructor(names: Readonly<Record<string, string>>) {
    this.#names = names;
    const own = mkdtempSync(join(tmpdir(), "sluice-terminal-"));
    this.folder = join(own, "work");
    this.#bin = join(own, "bin");
    for (const folder of [this.folder, this.#bin]) mkdirSync(folder);
    for (const [name, program] of PROGRAMS) {
      chmodSync(program, 0o755);
      symlinkSync(program, join(this.#bin, name));
    }
    this.#server = createServer((request, response) => {
      void text(request)
        .then((body) => this.#call(JSON.parse(body) as Call))
        .then((answer) => response.end(JSON.stringify(answer)));
    });
  }

  /** @param names what the screen shows in place of names of the test, such as `http://127.0.0.1:40123` */
  static async open(names: Readonly<Record<string, string>> = {}): Promise<Terminal> {
    const terminal = new Terminal(names);
    terminal.#server.listen(0, "127.0.0.1");
    await once(terminal.#server, "listening");
    return terminal;
  }

  /**
   * Runs a command line.
   * @param env the variables of the shell
   * @param isDone presses Ctrl-C as soon as it returns true for what is on the screen
   */
  async run(
    command: string,
    env: Readonly<Record<string, string>>,
    isDone?: (screen: string) => boolean,
  ): Promise<Shown> {
    this.#interrupt = new AbortController();
    this.#onScreen = isDone;
    const file = join(this.folder, "..", "screen");
    const screen = openSync(file, "w");
    const { port } = this.#server.address() as AddressInfo;
    const own = {
      ...essentials,
      PATH: `${this.#bin}:${essentials["PATH"]}`,
      CURL_PLAIN: "1",
      SLUICE_TERMINAL: `http://127.0.0.1:${port}`,
      SLUICE_SCREEN: String(fstatSync(screen).ino),
    };
    const shell = spawn("sh", ["-c", command], {
      cwd: this.folder,
      env: { ...own, ...env },
      stdio: ["ignore", screen, screen],
    });
    const [code] = (await once(shell, "close")) as [number | null];
    closeSync(screen);
    const shown = visible(readFileSync(file, "utf8"));
    const named = Object.entries(this.#names).reduce((text, pair) => text.replaceAll(...pair), shown);
    return { screen: named, code: code ?? -1 };
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    rmSync(join(this.folder, ".."), { recursive: true });
  }

  async #call({ args, env, shown, stdin }: Call): Promise<{ code: number; printed: [number, string][] }> {
    const printed: [number, string][] = [];
    const writer = (descriptor: number, isTTY: boolean) => ({
      isTTY,
      columns: COLUMNS,
      write: (part: string) => {
        printed.push([descriptor, part]);
        const all = visible(printed.map(([, each]) => each).join(""));
        if (this.#onScreen?.(all)) this.#interrupt.abort();
      },
    });
    const before = process.cwd();
    process.chdir(this.folder);
    try {
      const code = await run(args, {
        env,
        stdin: Object.assign(Readable.from(stdin === undefined ? [] : [stdin]), {
          isTTY: stdin === undefined,
        }),
        stdout: writer(1, shown),
        stderr: writer(2, true),
        interrupted: this.#interrupt.signal,
      });
      return { code, printed };
    } finally {
      process.chdir(before);
    }
  }
}

/** What stays on the screen: without colours, and without lines that a later one replaces, such as progress. */
function visible(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex -- the escape sequences of a terminal
      .replace(/\r\u001b\[K[^\r\n]*(?=\r)/g, "")
      // oxlint-disable-next-line no-control-regex
      .replace(/\r?\u001b\[\d*[A-Za-z]/g, "")
  );
}
