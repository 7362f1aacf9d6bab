// The load generator: sends one request again and again over open connections. It reads no more of an answer
// than its status and its length, so that it is cheaper than the servers that it drives.

import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A request that is sent unchanged, and the statuses that its answer may have. */
export interface Exchange {
  readonly request: Buffer;
  readonly status: number;
}

/** The bytes of a POST with a JSON body. */
export function postOf(path: string, token: string, body: unknown): Buffer {
  const json = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(json)}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${json}`);
}

/** Opens connections to a server on this machine. */
export async function connections(port: number, many: number): Promise<Socket[]> {
  const sockets = Array.from({ length: many }, () => connect(port, "127.0.0.1").setNoDelay());
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return sockets;
}

/**
 * Sends the request that many times in all, on each connection one after the other.
 * @throws {Error} if an answer has another status, or a connection ends
 */
export async function drive(sockets: readonly Socket[], exchange: Exchange, times: number): Promise<void> {
  let left = times;
  const next = () => left-- > 0;
  await Promise.all(sockets.map((socket) => repeat(socket, exchange, next)));
}

/** Sends one request. Returns the body of its answer. */
export async function ask(port: number, exchange: Exchange): Promise<unknown> {
  const sockets = await connections(port, 1);
  const pieces: Buffer[] = [];
  for (const socket of sockets) socket.on("data", (piece: Buffer) => pieces.push(piece));
  await drive(sockets, exchange, 1);
  for (const socket of sockets) socket.destroy();
  const answer = Buffer.concat(pieces).toString();
  return JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")));
}

function repeat(socket: Socket, { request, status }: Exchange, next: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let head = "";
    /** Bytes of the body that have not arrived yet; undefined while the head arrives. */
    let missing: number | undefined;
    const send = () => {
      head = "";
      missing = undefined;
      if (next()) {
        socket.write(request);
      } else {
        socket.off("data", onData).off("close", onClose);
        resolve();
      }
    };
    const onData = (piece: Buffer) => {
      if (missing === undefined) {
        head += piece.toString("latin1");
        const end = head.indexOf("\r\n\r\n");
        if (end === -1) return;
        const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
        if (!head.startsWith(`HTTP/1.1 ${status} `) || length === undefined) {
          return reject(new Error(`unexpected answer: ${head}`));
        }
        missing = Number(length) - (head.length - end - 4);
      } else {
        missing -= piece.length;
      }
      if (missing === 0) send();
    };
    const onClose = () => reject(new Error("the server closed a connection"));
    socket.on("data", onData).on("close", onClose);
    send();
  });
}
