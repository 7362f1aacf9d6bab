/** The way of calls to a Redis of their own: over HTTP, through the gateway, with mishaps. */
import { SluiceError, type Command, type Transport } from "../../../src/index.ts";
import { startGateway, type Fault, type Gateway } from "../../../src/local/index.ts";
import { keyLocking } from "../../../src/kernel/transport.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { connectionTo } from "../../support/connection.ts";
import { startRedis } from "../../support/redis.ts";
import type { Mishap } from "./operations.ts";

const FAULTS: Readonly<Record<Exclude<Mishap, "none">, Fault>> = {
  "reply lost": { kind: "lose-reply" },
  "delivered twice": { kind: "duplicate", answer: "second" },
  // Redis itself keeps them: it takes longer to compile them all again than to run the calls.
  "scripts forgotten": { kind: "noscript", match: { times: "always" } },
};

/** A connection to Redis itself. */
export interface Direct {
  sendCommand(words: string[]): Promise<unknown>;
}

export class Way {
  readonly direct: Direct;
  /** How many calls met a mishap on their way. */
  mishaps = 0;
  readonly stop: () => Promise<void>;
  readonly gateway: Gateway;
  /** The scripts that Redis knows, by hash: their texts are joined each time they are read. */
  readonly #loaded = new Set<string>();

  static async start(): Promise<Way> {
    const redis = await startRedis();
    const gateway = await startGateway({ redisUrl: redis.url, log: () => {} });
    const direct = connectionTo(redis.url);
    await direct.connect();
    return new Way(gateway, direct, async () => {
      direct.destroy();
      await gateway.close();
      await redis.stop();
    });
  }

  private constructor(gateway: Gateway, direct: Direct, stop: () => Promise<void>) {
    this.gateway = gateway;
    this.direct = direct;
    this.stop = stop;
  }

  /**
   * A transport of a function instance of its own.
   * @param change makes what is sent of each command
   */
  transport(change: (command: Command) => Command = (command) => command): Transport {
    const { url, token } = this.gateway;
    const sent = upstash({ url, token }, { retry: { firstWait: 1, longestWait: 2 } });
    // Without a name of the database: the memory of an instance belongs to this object.
    return {
      send: async (commands, options) => {
        await this.#load(sent, commands);
        return sent.send(commands.map(change), options);
      },
    };
  }

  /**
   * Makes a call. Its answer is `{ refused: code }` if it is refused with an error.
   * @param nth the call of a script that the mishap hits, from 1
   */
  async call(mishap: Mishap, nth: number, make: () => Promise<unknown>): Promise<unknown> {
    const fault =
      mishap === "none"
        ? undefined
        : this.gateway.faults.add({
            ...FAULTS[mishap],
            match: { ...FAULTS[mishap].match, command: "EVALSHA", nth },
          });
    if (fault) this.mishaps++;
    try {
      return await make();
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      return { refused: error.code };
    } finally {
      fault?.remove();
    }
  }

  /**
   * Loads scripts into Redis before they are called. A pipeline goes on after a script that Redis does not know, so
   * that the commands of one request, such as a settle and a dequeue, run in another order. So this happens only on
   * purpose.
   */
  async #load(transport: Transport, commands: readonly Command[]): Promise<void> {
    const called = commands.flatMap((command) => ("script" in command ? [command.script] : []));
    const unknown = new Map(
      called.flatMap((script) => (this.#loaded.has(script.sha1) ? [] : [[script.sha1, script]])),
    );
    if (unknown.size === 0) return;
    const loads = Array.from(
      unknown.values(),
      ({ source }) => ["SCRIPT", "LOAD", keyLocking + source] as const,
    );
    for (const outcome of await transport.send(loads)) if ("error" in outcome) throw outcome.error;
    for (const sha1 of unknown.keys()) this.#loaded.add(sha1);
  }
}
