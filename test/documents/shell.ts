import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { runHere } from "../cli/run-here.ts";
import { essentials } from "../support/environment.ts";
import { curl } from "./curl.mjs";

/** What a command line of a page has done. */
export interface Ran {
  readonly code: number;
  /** What is on the screen. */
  readonly screen: string;
  /** The status of the last response that curl got. */
  readonly status: number | undefined;
}

/** The variables that `sluice` gets from the shell. */
const VARIABLES = [
  "SLUICE_URL",
  "SLUICE_TOKEN",
  "REDIS_URL",
  "UPSTASH_REDIS_REST_URL",
  "UPSTASH_REDIS_REST_TOKEN",
];

/**
 * Functions in place of the programs: each sends its arguments, whether it prints to the screen, variables and input
 * to the process of the test, as texts that end with NUL, and gets output, errors and exit code back.
 */
const PROGRAMS = `
  call() {
    local input='' piped='' shown='' out err code
    if [[ ! /dev/stdin -ef /dev/null ]]; then piped=1; IFS= read -r -d '' input; fi
    if [[ /dev/stdout -ef $PAGE_SCREEN ]]; then shown=1; fi
    exec 9<>"/dev/tcp/127.0.0.1/$PAGE_PORT"
    local variables=(); for name in ${VARIABLES.join(" ")}; do variables+=("$name=\${!name}"); done
    printf '%s\\0' "$shown" "$piped" "$input" "\${variables[@]}" "$#" "$@" >&9
    IFS= read -r -d '' out <&9; IFS= read -r -d '' err <&9; read -r -d '' code <&9
    exec 9>&-
    printf '%s' "$err" >&2; printf '%s' "$out"
    return "$code"
  }
  sluice() { call sluice "$@"; }
  curl() { call curl "$@"; }
`;

/** A bash that runs the commands of a page. Its `sluice` and `curl` run in this process, each without one of its own. */
export class Shell {
  readonly folder = mkdtempSync(join(tmpdir(), "sluice-page-"));
  readonly #server: Server;
  #status: number | undefined;

  private constructor() {
    this.#server = createServer((socket) => {
      let text = "";
      socket.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        const [shown, piped, input = "", ...rest] = text.split("\0").slice(0, -1);
        const variables = rest.slice(0, VARIABLES.length).map((each) => each.split(/=(.*)/s, 2));
        const [count, ...words] = rest.slice(VARIABLES.length);
        if (words.length !== Number(count)) return;
        const env = Object.fromEntries(variables) as Record<string, string>;
        void this.#call(words, env, shown !== "", piped === "" ? undefined : input).then((answer) =>
          socket.end(answer.map((each) => `${each}\0`).join("")),
        );
      });
    });
  }

  static async open(): Promise<Shell> {
    const shell = new Shell();
    shell.#server.listen(0, "127.0.0.1");
    await once(shell.#server, "listening");
    return shell;
  }

  async run(command: string, env: Readonly<Record<string, string>>): Promise<Ran> {
    this.#status = undefined;
    const file = `${this.folder}.screen`;
    const screen = openSync(file, "w");
    const { port } = this.#server.address() as AddressInfo;
    const bash = spawn("bash", ["--norc", "-c", PROGRAMS + command], {
      cwd: this.folder,
      env: { ...essentials, ...env, PAGE_PORT: String(port), PAGE_SCREEN: file },
      stdio: ["ignore", screen, screen],
    });
    const [code] = (await once(bash, "close")) as [number | null];
    closeSync(screen);
    return { code: code ?? -1, screen: readFileSync(file, "utf8"), status: this.#status };
  }

  close(): void {
    this.#server.close();
    for (const path of [this.folder, `${this.folder}.screen`]) rmSync(path, { recursive: true });
  }

  async #call(
    [program, ...args]: readonly string[],
    env: Readonly<Record<string, string>>,
    shown: boolean,
    stdin: string | undefined,
  ): Promise<[out: string, err: string, code: number]> {
    if (program === "curl") {
      const { status, text } = await curl(args);
      this.#status = status;
      return [text, "", 0];
    }
    // Only tail goes on until Ctrl-C.
    const ctrlC = new AbortController();
    const onError = () => args[0] === "tail" && ctrlC.abort();
    const before = process.cwd();
    process.chdir(this.folder);
    const how = { terminal: shown, columns: 100, interrupted: ctrlC.signal, onError };
    const { text, err, code } = await runHere(args, env, stdin === undefined ? how : { ...how, stdin });
    process.chdir(before);
    return [text, err, code];
  }
}
