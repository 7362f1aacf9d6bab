import { dice } from "../../support/dice.ts";
import { createClient } from "../../../src/client/index.ts";
import { Queue, SluiceError, type Transport } from "../../../src/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import type { ClientQueue } from "../../../src/client/queue.ts";
import { resp } from "../../../src/transports/resp.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { Ledger } from "./ledger.ts";
import type { Errand } from "./work.ts";

/** What the director passes to a process, as environment variables. */
export interface RunProcessEnvironment {
  /** Such as `drain-1.3`: the third process of that role. */
  readonly CHAOS_NAME: string;
  readonly CHAOS_FOLDER: string;
  readonly CHAOS_SEED: string;
  readonly CHAOS_STYLE: string;
  readonly CHAOS_THROUGH: "gateway" | "server";
  /** How many partitions a deployment declares. */
  readonly CHAOS_PARTITIONS: string;
  readonly CHAOS_REDIS: string;
  /** Empty if `CHAOS_REDIS` is a cluster. */
  readonly CHAOS_GATEWAY: string;
  /** The HTTP interface that the process uses, or is. */
  readonly CHAOS_SERVER: string;
  readonly CHAOS_TOKEN: string;
  /** Where deliveries go. */
  readonly CHAOS_RECEIVER: string;
}

/** How late a timer of the process has to be before its ledger notes it, ms. */
const LATE = 300;
const TICK = 100;

/** One process of the run, as it sees itself. */
export class RunProcess {
  readonly env = process.env as unknown as RunProcessEnvironment;
  readonly name = this.env.CHAOS_NAME;
  readonly style = this.env.CHAOS_STYLE;
  readonly ledger = new Ledger(this.env.CHAOS_FOLDER, this.name);
  /** Aborts when the process is asked to end. */
  readonly ending: AbortSignal;
  /** The next random number of this process, from 0 to sides - 1. */
  readonly roll: (sides: number) => number;

  #toCluster: ReturnType<typeof resp> | undefined;

  constructor() {
    const next = dice(Number(this.env.CHAOS_SEED));
    this.roll = (sides) => Math.floor(next() * sides);
    const ending = new AbortController();
    process.once("SIGTERM", () => ending.abort());
    this.ending = ending.signal;
    process.on("uncaughtException", (error) => {
      this.ledger.write({ what: "broken", error: String(error.stack) });
      process.exit(1);
    });
    this.#watchTime();
  }

  /** The transport to Redis: through the gateway, or to a cluster; for groups in strict order, too. */
  transport(): Transport {
    const { CHAOS_GATEWAY: url, CHAOS_TOKEN: token, CHAOS_REDIS: redis } = this.env;
    return linked(url === "" ? (this.#toCluster ??= resp(redis)) : upstash({ url, token }));
  }

  /** Ends the connections of the transport, so that the process can end. */
  async close(): Promise<void> {
    await this.#toCluster?.close();
  }

  /** A queue, reached as this process does: straight through the gateway, or through the HTTP interface. */
  queue(name: string): Queue<Errand> | ClientQueue<Errand> {
    const { CHAOS_THROUGH: through, CHAOS_SERVER: url, CHAOS_TOKEN: token, CHAOS_PARTITIONS } = this.env;
    const fixed = { resultTtl: "1m" } as const;
    const declared = this.style === "partitions" && { partitions: Number(CHAOS_PARTITIONS) };
    return through === "server"
      ? createClient({ url, token }).queue<Errand>(name, fixed)
      : new Queue<Errand>(name, { transport: this.transport(), ...fixed, ...declared });
  }

  /** Notes an error: that Redis was out of reach may be, anything else may not. */
  met(error: unknown, call?: number): void {
    const code = error instanceof SluiceError ? error.code : "none";
    const expected = code === "redis_unreachable" || code === "unreachable" || code === "aborted";
    if (call !== undefined) this.ledger.write({ what: "failed", call, code });
    if (!expected) this.ledger.write({ what: "broken", error: String((error as Error).stack ?? error) });
  }

  #watchTime(): void {
    let last = performance.now();
    setInterval(() => {
      const now = performance.now();
      if (now - last > LATE) this.ledger.write({ what: "late", ms: Math.round(now - last) });
      last = now;
    }, TICK).unref();
  }
}
