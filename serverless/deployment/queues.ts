import { given } from "../../src/pick.ts";
import type { Tracing } from "../../src/queue/core/tracing.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { Operator } from "../../src/queue/operate/operator.ts";
import { Schedules } from "../../src/queue/schedules/schedules.ts";
import type { QueueDefinition, QueueOrName } from "../../src/queue/tasks/definition.ts";
import type { QueueBaseOptions } from "../../src/queue/tasks/queue-base.ts";
import { Queue, type QueueOptions } from "../../src/queue/tasks/queue.ts";
import type { Offload } from "../../src/queue/values/offload.ts";
import type { WithOffload } from "./object-stores.ts";

/** What the queues of a deployment have in common. */
interface QueuesContext {
  readonly transport: Transport;
  readonly prefix: string | undefined;
  readonly tracing: Tracing | undefined;
  readonly offloadOf: (queue: WithOffload) => Offload | undefined;
  /** The queue as its consumer here or its declaration sets it; undefined if it has neither. */
  readonly definitionOf: (name: string) => QueueDefinition | undefined;
}

/** Options of a caller. Its transport counts requests of the same database. */
type Own<Options extends QueueBaseOptions> = Omit<Options, "transport" | "prefix"> &
  Partial<Pick<Options, "transport">>;

/** Opens the queues of a deployment, each with all options of its definition. No other code of a deployment does. */
export class Queues {
  readonly #context: QueuesContext;

  constructor(context: QueuesContext) {
    this.#context = context;
  }

  /** @param own options that win over those of the definition */
  open<In, Out>(queue: QueueOrName<In, Out>, own: Own<QueueOptions<In, Out>>) {
    return new Queue<In, Out>(this.#known(queue), { ...this.#shared(queue), ...given(own) });
  }

  schedules<T>(queue: QueueOrName<T, unknown>, own: Own<QueueBaseOptions>) {
    return new Schedules<T>(this.#known(queue), { ...this.#shared(queue), ...given(own) });
  }

  operator(queue: QueueOrName<unknown, unknown>): Operator {
    return new Operator(this.#known(queue), this.#shared(queue));
  }

  #shared(queue: WithOffload) {
    const { transport, prefix, tracing, offloadOf } = this.#context;
    return { transport, prefix, tracing, offload: offloadOf(queue) };
  }

  // If the consumer takes another type than the caller, its schema refuses the payload.
  #known<In, Out>(queue: QueueOrName<In, Out>): QueueOrName<In, Out> {
    if (typeof queue !== "string") return queue;
    return (this.#context.definitionOf(queue) as QueueDefinition<In, Out> | undefined) ?? queue;
  }
}
