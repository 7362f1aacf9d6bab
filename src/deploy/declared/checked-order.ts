import { invalidArgument } from "../../errors.ts";
import { slotOf } from "../../kernel/names/slots.ts";
import type { EnqueueOptions } from "../../kernel/options/types.ts";
import type { QueueDefinition } from "../../open/definition.ts";
import type { Queue } from "../../open/queue.ts";
import type { DeclaredSettings } from "./declaration.ts";

/** A queue that may be declared. */
type MaybeDeclared = Pick<QueueDefinition, "name" | "options"> & { readonly settings?: DeclaredSettings };

type Placed = Pick<EnqueueOptions, "group" | "priority" | "id" | "dedup">;

/**
 * Checks a new task of a queue that is declared with a strict order: it has a group, and no priority. In a queue with
 * partitions, what says where it goes must be in the slot of the group, so that all of a group is in one partition.
 * @param path of the task in errors, such as `tasks[3].`
 * @throws {SluiceError} `invalid_argument`
 */
export function checkOrder(queue: MaybeDeclared, task: Placed | undefined, path = ""): void {
  const { name, settings, options } = queue;
  if (settings?.order !== "strict") return;
  const why = `the queue ${name} has a strict order`;
  if (task?.group === undefined) throw invalidArgument(`${path}group`, `is required: ${why}`);
  if (task.priority !== undefined) throw invalidArgument(`${path}priority`, `must not be set: ${why}`);
  const { group, id, dedup } = task;
  const place = id ?? dedup?.key;
  // What has no such form is refused by the enqueue.
  if (options.partitions === undefined || options.partitions === 1) return;
  if (typeof place !== "string" || typeof group !== "string" || slotOf(place) === slotOf(group)) return;
  const at = id === undefined ? "dedup.key" : "id";
  throw invalidArgument(path + at, `must contain {${group}}: ${why}, and partitions`);
}

/** As {@link checkOrder}, of several tasks. */
export function checkOrders(queue: MaybeDeclared, tasks: readonly Placed[]): void {
  // What is no list is refused by the enqueue.
  if (Array.isArray(tasks)) for (const [i, task] of tasks.entries()) checkOrder(queue, task, `tasks[${i}].`);
}

/** The same queue, whose enqueues check the order that is declared. */
export function inOrder<In, Out>(declared: MaybeDeclared, queue: Queue<In, Out>): Queue<In, Out> {
  if (declared.settings?.order === undefined) return queue;
  const enqueue = queue.enqueue.bind(queue);
  const enqueueMany = queue.enqueueMany.bind(queue);
  return Object.assign(queue, {
    async enqueue(...call: Parameters<typeof enqueue>) {
      checkOrder(declared, call[1]);
      return enqueue(...call);
    },
    async enqueueMany(...call: Parameters<typeof enqueueMany>) {
      checkOrders(declared, call[0]);
      return enqueueMany(...call);
    },
  });
}
