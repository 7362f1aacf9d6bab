import { InvalidArgumentError, Option } from "commander";
import { parsePort, portForm } from "../../config.ts";
import { isPortInUse } from "../../port-in-use.ts";

/**
 * An option that is a port.
 * @param flag such as `--port`
 */
export function portOption(flag: string, description: string): Option {
  return new Option(`${flag} <number>`, description).argParser((given) => {
    const port = parsePort(given);
    if (port === undefined) throw new InvalidArgumentError(portForm);
    return port;
  });
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
    if (port === undefined || !isPortInUse(error)) throw error;
    const message = `port ${port} is in use; choose another with ${option} <number>, or 0 for any free port`;
    throw new Error(message, { cause: error });
  }
}
