import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { listening } from "../../support/listening.ts";

/** The messages of Deno to the caller of its crons, such as Deno Deploy: a line of JSON each. */
type Message =
  | {
      readonly kind: "register";
      readonly crons: readonly { readonly name: string; readonly schedule: string }[];
    }
  | { readonly kind: "result"; readonly name: string; readonly success: boolean };

/** Takes the place of Deno Deploy: it knows the crons of `Deno.cron`, and calls them. */
export class CronCaller {
  /** The registered crons, such as `sluice * * * * *`. */
  readonly registered: string[] = [];
  readonly #server = createServer((socket) => this.#meet(socket));
  #socket: Socket | undefined;
  #result: ((success: boolean) => void) | undefined;

  /** Starts to listen. Returns the environment that makes Deno connect. */
  async listen(): Promise<Record<string, string>> {
    return { DENO_UNSTABLE_CRON_SOCK: `tcp:127.0.0.1:${await listening(this.#server)}` };
  }

  async call(name: string): Promise<void> {
    const ended = new Promise<boolean>((resolve) => (this.#result = resolve));
    this.#socket?.write(`${JSON.stringify({ kind: "invoke", name })}\n`);
    if (!(await ended)) throw new Error(`the cron ${name} failed`);
  }

  async close(): Promise<void> {
    this.#socket?.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #meet(socket: Socket): void {
    this.#socket = socket;
    socket.on("error", () => {});
    createInterface(socket).on("line", (line) => {
      const message = JSON.parse(line) as Message;
      if (message.kind === "register") {
        this.registered.push(...message.crons.map(({ name, schedule }) => `${name} ${schedule}`));
      } else {
        this.#result?.(message.success);
      }
    });
  }
}
