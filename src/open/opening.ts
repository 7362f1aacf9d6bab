import { given } from "../pick.ts";
import { declaredOrder, inOrder } from "./in-order.ts";
import { queueName } from "../kernel/options/validation.ts";
import { requireSchedules, type SchedulesPart } from "./schedules/part.ts";
import type { Schedules } from "./schedules/schedules.ts";
import { notAQueue, type QueueDefinition, type QueueOrName } from "./definition.ts";
import { Queue } from "./queue.ts";
import type { QueueOptions } from "./options.ts";
import type { Offload } from "../features/offload/types.ts";

/** What the queues of a service have in common, or those of one invocation of it: any options of a queue. */
export interface OpeningOptions extends Omit<QueueOptions, "schema" | "offload"> {
  /** Where large payloads go, or a function that returns it for each queue. @default as each queue is declared */
  readonly offload?: Offload | ((queue: QueueDefinition) => Offload | undefined) | undefined;
  /** Returns the declaration of a queue by its name, if it has one. @default no queue is declared */
  readonly definitionOf?: ((name: string) => QueueDefinition | undefined) | undefined;
  /** The code of schedules. @default none: a call of `schedules()` throws `unsupported` */
  readonly schedules?: SchedulesPart | undefined;
}

/** A queue with all of its options: those of the service, of its declaration, and of the caller. */
export interface OpenQueue<In = unknown, Out = In> {
  readonly name: string;
  readonly definition: QueueDefinition<In, Out>;
  /** The options beside those of the declaration. */
  readonly options: Omit<QueueOptions, "schema">;
  queue(): Queue<In, Out>;
  /** @throws {SluiceError} `unsupported` if the service has no schedules */
  schedules(): Schedules<In>;
}

/**
 * Opens a queue, by its declaration or its name.
 * @param own options of the caller, which win over all others
 * @throws {SluiceError} `invalid_argument` for an invalid name, and if it is neither a name nor a declared queue
 */
export type Open = <In = unknown, Out = In>(
  queue: QueueOrName<In, Out>,
  own?: Partial<QueueOptions<In, Out>>,
) => OpenQueue<In, Out>;

/**
 * Makes the function that opens the queues of a service. Nothing else there constructs queues, so an option that is
 * given here reaches all that works on a queue.
 */
export function opening({ definitionOf, offload, schedules, ...shared }: OpeningOptions): Open {
  return <In, Out>(queue: QueueOrName<In, Out>, own: Partial<QueueOptions<In, Out>> = {}) => {
    const definition = definitionFor(queue, definitionOf);
    const name = queueName(definition.name);
    const large = typeof offload === "function" ? offload(definition) : offload;
    const options = { ...shared, offload: large, ...given(own) };
    return {
      name,
      definition,
      options,
      queue: () => inOrder(definition, new Queue<In, Out>(definition, options)),
      schedules: () => {
        const its = requireSchedules(schedules).open<In>(definition, options);
        return options.transport.orderChecks?.schedules(declaredOrder(definition), its) ?? its;
      },
    };
  };
}

function definitionFor<In, Out>(
  queue: QueueOrName<In, Out>,
  definitionOf: OpeningOptions["definitionOf"],
): QueueDefinition<In, Out> {
  if (typeof queue === "string") {
    // If the consumer takes another type than the caller, its schema refuses the payload.
    const declared = definitionOf?.(queue) as QueueDefinition<In, Out> | undefined;
    return declared ?? { name: queue, options: {} };
  }
  if (typeof queue?.options !== "object" || typeof queue.name !== "string") throw notAQueue();
  return queue;
}
