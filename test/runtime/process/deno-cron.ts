import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";

/** What Deno tells whoever calls its crons, as Deno Deploy does: a line of JSON each. */
type Told =
  | {
      readonly kind: "register";
      readonly crons: readonly { readonly name: string; readonly schedule: string }[];
    }
  | { readonly kind: "result"; readonly name: string; readonly success: boolean };

/** Stands where Deno Deploy does: it knows what `Deno.cron` was told, and calls it. */
export class CronCaller {
  /** Such as `sluice * * * * *`. */
  readonly registered: string[] = [];
  readonly #server = createServer((socket) => this.#meet(socket));
  #socket: Socket | undefined;
  #result: ((success: boolean) => void) | undefined;

  /** The environment that leads Deno here. */
  async listen(): Promise<Record<string, string>> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return { DENO_UNSTABLE_CRON_SOCK: `tcp:127.0.0.1:${(this.#server.address() as AddressInfo).port}` };
  }

  /** Calls a cron by its name, and waits until it is done. */
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
      const reported = JSON.parse(line) as Told;
      if (reported.kind === "register") {
        this.registered.push(...reported.crons.map(({ name, schedule }) => `${name} ${schedule}`));
      } else {
        this.#result?.(reported.success);
      }
    });
  }
}
