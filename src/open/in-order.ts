import { isKnownSplit } from "../features/partitions/index.ts";
import type { Adding, MaybeDeclared } from "../kernel/order-checks.ts";
import type { QueueRef } from "../kernel/queue-ref.ts";
import type { Adds } from "../kernel/store.ts";
import type { QueueDefinition } from "./definition.ts";

type Definition = QueueDefinition & Pick<MaybeDeclared, "settings">;

/** The same queue. If its transport knows queues in strict order, what is added is checked as its declaration says. */
export function inOrder<Q extends Adding>(definition: Definition, queue: Q): Q {
  const { store } = queue as unknown as { readonly store: Pick<Adds, "queue"> };
  const { orderChecks } = store.queue.transport;
  return orderChecks?.queue(declaredOrder(definition, store.queue), queue) ?? queue;
}

/**
 * What a declaration says of the order of a queue.
 * @param queue which may be known to have partitions, also if none are declared
 */
export function declaredOrder({ name, options, settings }: Definition, queue?: QueueRef): MaybeDeclared {
  const isDivided = () => (options.partitions ?? 1) !== 1 || (queue !== undefined && isKnownSplit(queue));
  // All of a group must be in one partition.
  return { name, settings, slotReason: () => (isDivided() ? "partitions" : undefined) };
}
