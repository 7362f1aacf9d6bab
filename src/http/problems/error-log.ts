import { SluiceError } from "../../errors.ts";
import type { ProblemCode } from "./problem.ts";

/** A failure that is the server's or Redis's, not the caller's. */
export interface Fault {
  /** The `instance` that the caller was told. */
  readonly instance: string;
  readonly code: ProblemCode;
  readonly method: string;
  /** Such as `/v1/queues/:queue/tasks`. */
  readonly route: string | undefined;
  readonly error: unknown;
}

/** One line of JSON. Of a foreign error only its name and frames: its message may quote a payload. */
export function reportToConsole({ error, ...fault }: Fault): void {
  const line = { ...fault, error: name(error), message: message(error), frames: frames(error) };
  console.error(JSON.stringify(line));
}

const name = (error: unknown) => (error instanceof Error ? error.name : typeof error);
const message = (error: unknown) => (error instanceof SluiceError ? error.message : undefined);

function frames(error: unknown): string[] | undefined {
  if (!(error instanceof Error) || error instanceof SluiceError) return undefined;
  return error.stack
    ?.split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8);
}
