import { parsePort, portForm } from "../config.ts";
import { UsageError } from "./subcommand.ts";

/**
 * Reads an option that is a port.
 * @param option such as `--port`
 * @returns `undefined` if the option is not given
 * @throws {UsageError}
 */
export function readPortOption(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const port = parsePort(given);
  if (port === undefined) throw new UsageError(`${option} ${portForm}`);
  return port;
}

/**
 * Starts a server on the port. If the port is in use, the error names the option that chooses another.
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
    throw new Error(
      `port ${port} is in use; choose another with ${option} <number>, or 0 for any free port`,
      {
        cause: error,
      },
    );
  }
}
