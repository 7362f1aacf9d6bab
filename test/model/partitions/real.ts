/** The real queue with partitions: several function instances, over HTTP through the gateway. */
import { tagged } from "../../support/key-space.ts";
import { createClient } from "@redis/client";
import { SluiceError, sweep, type Transport } from "../../../src/index.ts";
import { startGateway, type Fault, type Gateway } from "../../../src/local/index.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import { upstash } from "../../../src/transport/upstash.ts";
import { startRedis } from "../../support/redis.ts";
import { settlementOf } from "../client.ts";
import { ScriptLoader } from "../script-loader.ts";
import { Instance, Stopped } from "./instance.ts";
import { type Direct, type Observation, observe, ownersOf, partitionNames } from "./observation.ts";
import type { Mishap, PartitionedCall, PartitionedOperation, Pull } from "./operations.ts";

const faultOf = (mishap: Exclude<Mishap, "none">, nth: number): Fault => {
  const match = { command: "EVALSHA", nth };
  if (mishap === "reply lost") return { kind: "lose-reply", match };
  if (mishap === "delivered twice") return { kind: "duplicate", answer: "second", match };
  return { kind: "flush-scripts", match };
};

/** Instances: three that declare partitions, and one that does not know of them. */
const DECLARED = [4, 4, 2, undefined] as const;
export const INSTANCES = DECLARED.length;

/** What one call did. */
export interface Happened {
  readonly answer: unknown;
  readonly before: Observation;
  readonly after: Observation;
  readonly by: Instance;
  /** The instance that sent the call again. */
  readonly other?: Instance | undefined;
}

export class RealPartitions {
  now = 0;
  calls = 0;
  mishaps = 0;
  space!: Observation;
  readonly #gateway: Gateway;
  readonly #scripts: ScriptLoader;
  readonly #direct: Direct;
  readonly stop: () => Promise<void>;
  #instances: Instance[] = [];

  static async start(): Promise<RealPartitions> {
    const redis = await startRedis();
    const gateway = await startGateway({ redisUrl: redis.url, log: () => {} });
    const direct = createClient({ url: redis.url, RESP: 2 });
    await direct.connect();
    return new RealPartitions(gateway, direct, async () => {
      direct.destroy();
      await gateway.close();
      await redis.stop();
    });
  }

  private constructor(gateway: Gateway, direct: Direct, stop: () => Promise<void>) {
    this.#gateway = gateway;
    this.#scripts = new ScriptLoader(gateway);
    this.#direct = direct;
    this.stop = stop;
  }

  async reset(now: number): Promise<void> {
    await this.#direct.sendCommand(["FLUSHALL"]);
    this.now = now;
    this.#instances = DECLARED.map((partitions) => this.#newInstance(partitions));
    this.space = await observe(this.#direct);
  }

  /** Replaces an instance by a new one, which remembers nothing. */
  renew(by: number): void {
    this.#instances[by] = this.#newInstance(DECLARED[by]);
  }

  #newInstance(partitions: number | undefined): Instance {
    const { url, token } = this.#gateway;
    const sent = upstash({ url, token }, { retry: { firstWait: 1, longestWait: 2 } });
    const transport: Transport = {
      send: async (commands, options) => {
        await this.#scripts.load(commands);
        return sent.send(commands, options);
      },
    };
    return new Instance(transport, () => this.now, partitions);
  }

  instance(by: number): Instance {
    return this.#instances[by % INSTANCES] as Instance;
  }

  async run({ operation, by, mishap, nth, meanwhile }: PartitionedCall): Promise<Happened> {
    // Neither of these uses the memory of an instance.
    const isApart = operation.does === "resize" || operation.does === "sweep";
    const instance = isApart ? this.#newInstance(undefined) : this.instance(by);
    const fault = mishap === "none" ? undefined : this.#gateway.faults.add(faultOf(mishap, nth));
    this.calls++;
    if (mishap !== "none") this.mishaps++;
    const afterChange = async () => void ownersOf(await this.#notes());
    const beginMeanwhile = async (request: number) => {
      if (!meanwhile || request !== meanwhile.request) return;
      this.calls++;
      const { count, stopAfter } = meanwhile;
      const other = this.#newInstance(undefined);
      await other.call({ afterChange, stopAfter }, () => this.#resize(other, count));
    };
    let answer: unknown;
    const stopAfter = operation.does === "resize" ? operation.stopAfter : undefined;
    try {
      answer = await instance.call({ afterChange, stopAfter, before: beginMeanwhile }, () =>
        this.#call(instance, operation),
      );
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      answer = { refused: error.code };
    } finally {
      fault?.remove();
      if (mishap === "scripts forgotten") this.#scripts.forget();
    }
    const before = this.space;
    this.space = await observe(this.#direct);
    const other = operation.does === "dequeueTwice" ? this.instance(operation.other) : undefined;
    return { answer, before, after: this.space, by: instance, other };
  }

  #notes(): Promise<(string | null)[]> {
    const reads = partitionNames.map((name) => {
      return this.#direct.sendCommand(["HGET", `sluice:${tagged(name)}:tasks`, "~slots"]);
    });
    return Promise.all(reads) as Promise<(string | null)[]>;
  }

  async #resize({ transport }: Instance, count: number): Promise<unknown> {
    const now = () => this.now;
    const place = { name: "emails", prefix: undefined, transport, now, copySettings };
    return resizeQueue(place, count).catch((error: unknown) => {
      if (error instanceof Stopped) return "stopped";
      throw error;
    });
  }

  async #call(instance: Instance, operation: PartitionedOperation): Promise<unknown> {
    const { queue, transport } = instance;
    switch (operation.does) {
      case "enqueue": {
        const { tasks, key: idempotencyKey } = operation;
        const [lone] = tasks;
        if (tasks.length > 1 || !lone) return queue.enqueueMany(tasks, { idempotencyKey });
        const { payload, ...options } = lone;
        return [await queue.enqueue(payload, { ...options, idempotencyKey })];
      }
      case "dequeue":
        return queue.dequeue(pullOptions(operation.pull));
      case "dequeueTwice": {
        const first = await queue.dequeue(pullOptions(operation.pull));
        const second = await this.instance(operation.other).queue.dequeue(pullOptions(operation.pull));
        return [first, second];
      }
      case "settle": {
        const items = operation.items.map(settlementOf);
        return operation.pull
          ? queue.settleAndDequeue(items, pullOptions(operation.pull))
          : queue.settle(items);
      }
      case "cancel":
        return queue.cancel(operation.id);
      case "get":
        return queue.get(operation.id);
      case "counts":
        return queue.counts();
      case "sweep":
        return sweep(transport, { now: () => this.now, queue: operation.lone ? "emails" : undefined });
      default:
        return this.#resize(instance, operation.count);
    }
  }
}

const pullOptions = ({ max, lease, token }: Pull) => ({ max, lease, token });
