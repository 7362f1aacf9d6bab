import { once } from "node:events";
import { createServer } from "node:net";

/** Below the range of ephemeral ports, so that no outgoing connection takes one away. */
const firstPort = 20_000;
const lastPort = 32_000;

/** The preferred loopback port where it is free, else another that is. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  for (let tries = 0; tries < 50; tries++) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort));
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found between ${firstPort} and ${lastPort}`);
}

/**
 * Starts what listens on a port: the preferred one where it is free, else another; also where somebody else
 * was faster to take it.
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
      const taken = error instanceof Error && /EADDRINUSE|address already in use/i.test(error.message);
      if (!taken || tries === 5) throw error;
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
