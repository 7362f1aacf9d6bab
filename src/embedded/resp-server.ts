import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { EmbeddedDatabase } from "./database.ts";
import { CommandReader, encode, ProtocolError } from "./resp-protocol.ts";

export interface EmbeddedServerOptions {
  /** The port; 0 for any free one. @default 0 */
  readonly port?: number | undefined;
  /** The address to listen on. @default "127.0.0.1" */
  readonly host?: string | undefined;
}

/** A TCP server for clients of Redis. */
export interface EmbeddedServer {
  /** Such as `redis://127.0.0.1:20017`. */
  readonly url: string;
  readonly port: number;
  /** Closes the server and all its connections. The database stays. */
  close(): Promise<void>;
}

/** Most bytes that wait for a client that does not read. With more, the connection is closed. */
const MOST_BEHIND = 256 * 1024 * 1024;

/**
 * Serves a database to clients of Redis, in RESP2. It asks for no password: listen on a loopback address only.
 * @throws an Error if the port is in use
 */
export async function startEmbeddedServer(
  database: EmbeddedDatabase,
  { port = 0, host = "127.0.0.1" }: EmbeddedServerOptions = {},
): Promise<EmbeddedServer> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    serveClient(database, socket);
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    url: `redis://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`,
    port: address.port,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function serveClient(database: EmbeddedDatabase, socket: Socket): void {
  const reader = new CommandReader();
  let isEnding = false;
  /** The replies to the commands of the current chunk, which are sent together. */
  let replies: string | undefined;
  const write = (encoded: string) => {
    if (replies !== undefined) replies += encoded;
    else if (!socket.destroyed) {
      socket.write(Buffer.from(encoded, "latin1"));
      if (socket.writableLength > MOST_BEHIND) socket.destroy();
    }
  };
  const connection = database.connect(
    {
      push: (value) => write(encode(value)),
      close: () => {
        isEnding = true;
        if (replies === undefined) socket.destroy();
      },
    },
    `${socket.remoteAddress}:${socket.remotePort}`,
  );

  socket.on("error", () => {});
  socket.once("close", () => connection.close());
  socket.on("data", (chunk: Buffer) => {
    replies = "";
    try {
      for (const words of reader.read(chunk)) {
        if (isEnding) break;
        write(encode(connection.runBytes(words)));
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      write(`-ERR Protocol error: ${error.message}\r\n`);
      isEnding = true;
    } finally {
      const encoded = replies;
      replies = undefined;
      if (encoded !== "") write(encoded);
      if (isEnding) socket.end();
    }
  });
}
