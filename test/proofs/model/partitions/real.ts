/** The real queue with partitions: several function instances, over HTTP through the gateway. */
import { Operator, sweep } from "../../../../src/index.ts";
import { prepareChange } from "../../../../src/features/partitions/copy-settings.ts";
import { resizeQueue } from "../../../../src/features/partitions/resize.ts";
import { tagged } from "../../../support/key-space.ts";
import { enqueueTo, settlementOf } from "../client.ts";
import { Way } from "../way.ts";
import { type Caller, Instance, type OtherClient, Stopped } from "./instance.ts";
import { type Observation, observe, ownersOf, partitionNames } from "./observation.ts";
import type { PartitionedCall, PartitionedOperation, Pull } from "./operations.ts";

/** Instances: three that declare partitions, and one that does not know of them. */
const DECLARED = [4, 4, 2, undefined] as const;
export const INSTANCES = DECLARED.length;

/** What one call did. */
export interface Happened {
  readonly answer: unknown;
  readonly before: Observation;
  readonly after: Observation;
  readonly by: Caller;
  /** The instance that sent the call again. */
  readonly other?: Caller | undefined;
}

export class RealPartitions {
  now = 0;
  calls = 0;
  space!: Observation;
  readonly way: Way;
  #instances: Instance[] = [];
  #isOrdered = false;
  readonly #others: ReadonlyMap<number, OtherClient>;

  /** @param others clients that make the calls of the instances with these numbers, as far as they offer them */
  constructor(way: Way, others: ReadonlyMap<number, OtherClient> = new Map()) {
    this.way = way;
    this.#others = others;
  }

  /** @param isOrdered whether its groups are in strict order */
  async reset(now: number, isOrdered: boolean): Promise<void> {
    await this.way.direct.sendCommand(["FLUSHALL"]);
    this.now = now;
    this.#isOrdered = isOrdered;
    this.#instances = DECLARED.map((partitions) => this.#newInstance(partitions));
    for (const other of this.#others.values()) other.renew();
    if (isOrdered) {
      const { transport } = this.#newInstance(undefined);
      await new Operator("emails", { transport, now: () => now }).configure({ order: "strict" });
    }
    this.space = await observe(this.way.direct);
  }

  /** Replaces an instance by a new one, which remembers nothing. */
  renew(by: number): void {
    this.#instances[by] = this.#newInstance(DECLARED[by]);
    this.#others.get(by)?.renew();
  }

  #newInstance(partitions: number | undefined): Instance {
    return new Instance(this.way.transport(), () => this.now, partitions, this.#isOrdered);
  }

  instance(by: number): Instance {
    return this.#instances[by % INSTANCES] as Instance;
  }

  /** What makes a call. */
  callerOf({ operation, by }: PartitionedCall): Instance | OtherClient {
    const other = this.#others.get(by);
    return other?.offers(operation) ? other : this.instance(by);
  }

  async run(call: PartitionedCall): Promise<Happened> {
    const { operation, mishap, nth, meanwhile } = call;
    const maker = this.callerOf(call);
    // Neither of these uses the memory of an instance.
    const isApart = operation.does === "resize" || operation.does === "sweep";
    const caller = isApart && maker instanceof Instance ? this.#newInstance(undefined) : maker;
    this.calls++;
    const afterChange = async () => void ownersOf(await this.#notes());
    const beginMeanwhile = async (request: number) => {
      if (!meanwhile || request !== meanwhile.request) return;
      this.calls++;
      const { count, stopAfter } = meanwhile;
      const other = this.#newInstance(undefined);
      await other.call({ afterChange, stopAfter }, () => this.#resize(other, count));
    };
    const stopAfter = operation.does === "resize" ? operation.stopAfter : undefined;
    const around = { afterChange, stopAfter, before: beginMeanwhile };
    const answer = await this.way.call(mishap, nth, () =>
      caller instanceof Instance
        ? caller.call(around, () => this.#call(caller, operation))
        : caller.call(around, operation, this.now),
    );
    const before = this.space;
    this.space = await observe(this.way.direct);
    const other = operation.does === "dequeueTwice" ? this.instance(operation.other) : undefined;
    return { answer, before, after: this.space, by: caller, other };
  }

  #notes(): Promise<(string | null)[]> {
    const reads = partitionNames.map((name) => {
      return this.way.direct.sendCommand(["HGET", `sluice:${tagged(name)}:tasks`, "~slots"]);
    });
    return Promise.all(reads) as Promise<(string | null)[]>;
  }

  async #resize({ transport }: Instance, count: number): Promise<unknown> {
    const now = () => this.now;
    const place = { name: "emails", prefix: undefined, transport, now, prepare: prepareChange };
    try {
      const map = await resizeQueue(place, count);
      await transport.passTurns?.(place, map);
      return map;
    } catch (error) {
      if (error instanceof Stopped) return "stopped";
      throw error;
    }
  }

  async #call(instance: Instance, operation: PartitionedOperation): Promise<unknown> {
    const { queue, transport } = instance;
    switch (operation.does) {
      case "enqueue":
        return enqueueTo(queue, operation.tasks, operation.key);
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
