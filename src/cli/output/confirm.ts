import { createInterface } from "node:readline";
import { UsageError } from "../exit.ts";
import type { Io } from "../io.ts";

/**
 * Asks a person before something that cannot be undone. Ctrl-C and the end of the input mean no.
 * @param yes the answer of the option `--yes`
 * @throws {UsageError} if no person can answer
 * @returns whether to go on
 */
export async function confirmed(io: Io, question: string, yes: boolean | undefined): Promise<boolean> {
  if (yes) return true;
  if (!canAsk(io))
    throw new UsageError("this cannot be undone, and there is no terminal to ask on; add --yes");
  // Without `terminal` Ctrl-C stays a signal.
  const lines = createInterface({ input: io.stdin, terminal: false });
  const close = () => lines.close();
  const answer = new Promise<string | undefined>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(undefined));
  });
  io.interrupted.addEventListener("abort", close);
  io.stderr.write(`${question} [y/N] `);
  try {
    const text = await answer;
    if (text === undefined) io.stderr.write("\n");
    return /^y(es)?$/i.test((text ?? "").trim());
  } finally {
    lines.close();
    io.interrupted.removeEventListener("abort", close);
  }
}

/** Whether a person can answer. */
export function canAsk({ stdin, stderr }: Io): boolean {
  return Boolean(stdin.isTTY && stderr.isTTY);
}
