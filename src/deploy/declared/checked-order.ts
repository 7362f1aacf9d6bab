import { invalidArgument } from "../../errors.ts";
import type { EnqueueOptions } from "../../kernel/options/types.ts";
import type { QueueDefinition } from "../../open/definition.ts";
import type { Queue } from "../../open/queue.ts";
import type { DeclaredSettings } from "./declaration.ts";

/** A queue that may be declared. */
type MaybeDeclared = Pick<QueueDefinition, "name"> & { readonly settings?: DeclaredSettings };

type Placed = Pick<EnqueueOptions, "group" | "priority">;

/**
 * Checks a new task of a queue that is declared with a strict order: it has a group, and no priority.
 * @param path of the task in errors, such as `tasks[3].`
 * @throws {SluiceError} `invalid_argument`
 */
export function checkOrder({ name, settings }: MaybeDeclared, task: Placed | undefined, path = ""): void {
  if (settings?.order !== "strict") return;
  const why = `the queue ${name} has a strict order`;
  if (task?.group === undefined) throw invalidArgument(`${path}group`, `is required: ${why}`);
  if (task.priority !== undefined) throw invalidArgument(`${path}priority`, `must not be set: ${why}`);
}

/** As {@link checkOrder}, of several tasks. */
export function checkOrders(queue: MaybeDeclared, tasks: readonly Placed[]): void {
  // What is no list is refused by the enqueue.
  if (Array.isArray(tasks)) for (const [i, task] of tasks.entries()) checkOrder(queue, task, `tasks[${i}].`);
}

/** The same queue, whose enqueues check the order that is declared. */
export function inOrder<In, Out>(declared: MaybeDeclared, queue: Queue<In, Out>): Queue<In, Out> {
  if (declared.settings?.order === undefined) return queue;
  const { enqueue, enqueueMany } = queue;
  return Object.assign(queue, {
    async enqueue(...call: Parameters<typeof enqueue>) {
      checkOrder(declared, call[1]);
      return enqueue.apply(queue, call);
    },
    async enqueueMany(...call: Parameters<typeof enqueueMany>) {
      checkOrders(declared, call[0]);
      return enqueueMany.apply(queue, call);
    },
  });
}
