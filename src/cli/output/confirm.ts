import { createInterface } from "node:readline/promises";
import { UsageError } from "../exit.ts";
import type { Io } from "../io.ts";

/**
 * Asks a person before something that cannot be undone.
 * @param yes the answer of the option `--yes`
 * @throws {UsageError} if no person can answer
 * @returns whether to go on
 */
export async function confirmed(io: Io, question: string, yes: boolean | undefined): Promise<boolean> {
  if (yes) return true;
  if (!io.stdin.isTTY || !io.stderr.isTTY)
    throw new UsageError("this cannot be undone, and no person can confirm it here; add --yes");
  const lines = createInterface({ input: io.stdin, output: io.stderr as NodeJS.WritableStream });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
