import { UsageError } from "./subcommand.ts";

/**
 * The port that an option names; undefined where it is not given.
 * @param option such as `--port`
 * @throws {UsageError}
 */
export function readPort(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const port = Number(given);
  if (/^\d+$/.test(given) && port <= 65_535) return port;
  throw new UsageError(`${option} takes a number from 0 to 65535`);
}

/**
 * Starts what listens on the port, and says which option chooses another where that one is taken.
 * @param option such as `--port`
 */
export async function onPort<Served>(
  option: string,
  port: number | undefined,
  start: () => Promise<Served>,
): Promise<Served> {
  try {
    return await start();
  } catch (error) {
    if (port === undefined || !(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) {
      throw error;
    }
    throw new Error(`port ${port} is in use; choose another with ${option} <number>, 0 for any free one`, {
      cause: error,
    });
  }
}
