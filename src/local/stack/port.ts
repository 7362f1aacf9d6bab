import { once } from "node:events";
import { createServer } from "node:net";
import { isPortInUse } from "../../port-in-use.ts";

/** Below the ephemeral ports, so that no outgoing connection uses one of them. */
const firstPort = 20_000;
const lastPort = 32_000;

/** The preferred loopback port if it is free, else another free one. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  for (let tries = 0; tries < 50; tries++) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort));
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found between ${firstPort} and ${lastPort}`);
}

/**
 * Starts a server on the preferred port if it is free, else on another. Tries again if another process takes
 * the port first.
 */
export async function onFreePort<Served>(
  preferred: number | undefined,
  start: (port: number) => Promise<Served>,
): Promise<Served> {
  for (let tries = 1; ; tries++) {
    const port = await freePort(tries === 1 ? preferred : undefined);
    try {
      return await start(port);
    } catch (error) {
      if (!isPortInUse(error) || tries === 5) throw error;
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
