import { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { run } from "../../src/cli/run.ts";

export interface Invocation {
  /** Content of the standard input: a pipe. Without it, it is a terminal. */
  readonly stdin?: string;
  /** What the person types, if asked. Nothing is the end of the input, Ctrl-D. */
  readonly answer?: string | Promise<string>;
  /** Whether a person reads the output. @default false */
  readonly terminal?: boolean;
  /** Width of that terminal. @default 120 */
  readonly columns?: number;
  /** Variables beside those of the target. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly interrupted?: AbortSignal | undefined;
  /** Called with all of the output so far, each time that there is more. */
  readonly onOutput?: (out: string) => void;
  /** Called with all that was written to the standard error output so far. */
  readonly onError?: (err: string) => void;
}

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The output without colours. */
  readonly text: string;
  /** The lines of the output as JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly rows: any[];
}

/** Runs a command line in this process, in an environment of its own. */
export async function runHere(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  how: Invocation = {},
): Promise<Ended> {
  const { stdin, answer, terminal = false, columns = 120, interrupted = new AbortController().signal } = how;
  const written = { out: "", err: "" };
  const writer = (to: "out" | "err") => ({
    isTTY: terminal,
    columns,
    write: (text: string) => {
      written[to] += text;
      if (to === "out") how.onOutput?.(written.out);
      else how.onError?.(written.err);
    },
  });
  const typed = [stdin ?? answer ?? []].flat();
  const input = Object.assign(Readable.from(typed), {
    isTTY: stdin === undefined,
  });
  const io = { env, stdin: input, stdout: writer("out"), stderr: writer("err"), interrupted };
  const code = await run(args, io);
  const rows = () =>
    written.out
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  return {
    code,
    ...written,
    text: stripVTControlCharacters(written.out),
    get rows() {
      return rows();
    },
  };
}
