import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Sends commands to a Redis and returns the bytes of the replies, which no client has changed. */
export class RawConnection {
  readonly #socket: Socket;
  #marks = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new RawConnection(socket);
  }

  /**
   * Sends commands, and then a command with a known reply.
   * @param commands words whose characters are bytes
   * @returns the replies to them, each character a byte
   */
  async send(commands: readonly (readonly string[])[]): Promise<string> {
    const mark = `end of the replies ${++this.#marks}`;
    const end = `$${mark.length}\r\n${mark}\r\n`;
    const all = [...commands, ["ECHO", mark]];
    let received = "";
    const complete = new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        received += chunk.toString("latin1");
        if (!received.endsWith(end)) return;
        this.#socket.off("data", read);
        this.#socket.off("close", reject);
        resolve();
      };
      this.#socket.on("data", read);
      this.#socket.once("close", reject);
    });
    this.#socket.write(Buffer.from(all.map(encodeCommand).join(""), "latin1"));
    await complete;
    return received.slice(0, -end.length);
  }

  close(): void {
    this.#socket.destroy();
  }
}

const encodeCommand = (words: readonly string[]) =>
  `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
