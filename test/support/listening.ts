import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { onTestFinished } from "vitest";

/** Lets a server listen on a free port of this machine. */
export async function listening(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

export interface ClosedPort {
  readonly port: number;
  release(): void;
}

/** A port of this machine that refuses connections until it is released: a connection has it, so nothing can listen. */
export async function holdClosedPort(): Promise<ClosedPort> {
  const server = createServer((other) => other.resume());
  const socket = connect(await listening(server), "127.0.0.1");
  await once(socket, "connect");
  const release = () => {
    socket.destroy();
    server.close();
  };
  return { port: socket.localPort as number, release };
}

/** The same until the test ends. */
export async function closedPort(): Promise<number> {
  const { port, release } = await holdClosedPort();
  onTestFinished(release);
  return port;
}
