/** The real queue: three clients, over HTTP through the gateway, on a Redis of its own. */
import { createClient } from "@redis/client";
import { SluiceError, type Command, type Transport } from "../../src/index.ts";
import { startGateway, type Fault, type Gateway } from "../../src/local/index.ts";
import { dequeueScript, enqueueScript, settleAndDequeueScript } from "../../src/queue/redis/task-scripts.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { readQueueSpace, type QueueSpace } from "../support/key-space.ts";
import { startRedis } from "../support/redis.ts";
import { Client } from "./client.ts";
import { pullOf, type Mishap, type Operation } from "./operations.ts";
import { casesOf } from "./cases.ts";
import { ScriptLoader } from "./script-loader.ts";
import type { ModelDeadLetter } from "./state.ts";

const CLIENTS = 3;

const FAULTS: Readonly<Record<Exclude<Mishap, "none">, Fault>> = {
  "reply lost": { kind: "lose-reply", match: { command: "EVALSHA" } },
  "delivered twice": { kind: "duplicate", answer: "second", match: { command: "EVALSHA" } },
  "scripts forgotten": { kind: "flush-scripts", match: { command: "EVALSHA" } },
};

/** The result of one call. */
export interface Happened {
  readonly answer: unknown;
  /** Whether an enqueue read the settings. */
  readonly look: boolean;
  /** Whether the queue was in the registry before. */
  readonly registered: boolean;
  readonly before: QueueSpace;
  readonly after: QueueSpace;
}

const connectionTo = (url: string) => createClient({ url, RESP: 2 });
type Direct = ReturnType<typeof connectionTo>;

export class Real {
  now = 0;
  name = "";
  /** How often a consumer was woken. */
  woken = 0;
  /** The dead letters that the last call reported. */
  deadLetters: readonly ModelDeadLetter[] = [];
  /** How many calls were made in all. */
  calls = 0;
  /** How many of them met a mishap on their way. */
  mishaps = 0;
  /** The cases covered since this was last emptied, see {@link casesOf}. */
  readonly met = new Set<string>();
  space: QueueSpace;
  readonly #gateway: Gateway;
  readonly #scripts: ScriptLoader;
  readonly #direct: Direct;
  readonly #stop: () => Promise<void>;
  #clients: readonly Client[] = [];
  #look = false;
  #registered = false;
  #flagged = true;

  static async start(): Promise<Real> {
    const redis = await startRedis();
    const gateway = await startGateway({ redisUrl: redis.url, log: () => {} });
    const direct = connectionTo(redis.url);
    await direct.connect();
    const stop = async () => {
      direct.destroy();
      await gateway.close();
      await redis.stop();
    };
    return new Real(gateway, direct, stop, await readQueueSpace(direct, "none"));
  }

  private constructor(gateway: Gateway, direct: Direct, stop: () => Promise<void>, space: QueueSpace) {
    this.#gateway = gateway;
    this.#scripts = new ScriptLoader(gateway);
    this.#direct = direct;
    this.#stop = stop;
    this.space = space;
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  /** A new queue, and clients without memory of another. */
  async reset(now: number): Promise<void> {
    await this.#direct.sendCommand(["FLUSHALL"]);
    this.now = now;
    this.woken = 0;
    this.#registered = false;
    this.name = "emails";
    this.#clients = Array.from({ length: CLIENTS }, () => this.#client());
    this.space = await readQueueSpace(this.#direct, this.name);
  }

  #client(): Client {
    const sent = upstash(
      { url: this.#gateway.url, token: this.#gateway.token },
      { retry: { firstWait: 1, longestWait: 2 } },
    );
    // Without a name of the database: the memory of an instance belongs to this object.
    const transport: Transport = {
      send: async (commands, options) => {
        await this.#scripts.load(commands);
        return sent.send(
          commands.map((command) => this.#onItsWay(command)),
          options,
        );
      },
    };
    return new Client(
      this.name,
      transport,
      () => this.now,
      () => void this.woken++,
      ({ id, reason, attempts }) => void (this.deadLetters = [...this.deadLetters, { id, reason, attempts }]),
    );
  }

  #onItsWay(command: Command): Command {
    if (!("script" in command)) return command;
    if (command.script === enqueueScript.script) this.#look = command.args[1] === "1";
    // A first copy has no mark; the transport's own resends have one.
    // Its arguments are the first of a settle with dequeue too.
    const pulls = [dequeueScript.script, settleAndDequeueScript.script].includes(command.script);
    if (pulls && !this.#flagged) {
      // Each call that goes on after that first one has the mark.
      this.#flagged = true;
      return { ...command, args: command.args.with(dequeueScript.args.indexOf("resend"), "") };
    }
    return command;
  }

  /** Clients, by number, whose deep sweep has not ended yet. */
  sweeping(): number[] {
    return this.#clients.flatMap(({ sweeping }, by) => (sweeping ? [by] : []));
  }

  /** Makes one call. Returns its answer and the keys before and after. */
  async run(operation: Operation, by: number, mishap: Mishap): Promise<Happened> {
    const client = this.#clients[by % CLIENTS] as Client;
    const fault = mishap === "none" ? undefined : this.#gateway.faults.add(FAULTS[mishap]);
    this.#flagged = pullOf(operation)?.flagged ?? true;
    this.calls++;
    this.deadLetters = [];
    if (mishap !== "none") this.mishaps++;
    let answer: unknown;
    try {
      answer = await client.call(operation);
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      answer = { refused: error.code };
    } finally {
      fault?.remove();
      if (mishap === "scripts forgotten") this.#scripts.forget();
    }
    const before = this.space;
    const registered = this.#registered;
    this.#registered = (await this.#direct.sendCommand(["ZSCORE", "sluice:queues", this.name])) !== null;
    this.space = await readQueueSpace(this.#direct, this.name);
    const happened = { answer, look: this.#look, registered, before, after: this.space };
    for (const one of casesOf(operation, happened)) this.met.add(one);
    return happened;
  }
}
