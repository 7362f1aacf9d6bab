/** Checks new tasks of queues that are declared with a strict order, in whatever way they are added. */
import { invalidArgument } from "../../errors.ts";
import type { CheckTask } from "../hooks.ts";
import { slotOf } from "../names/slots.ts";
import type { EnqueueOptions } from "../options/types.ts";
import type { Adding, MaybeDeclared, OrderChecks, Putting } from "../order-checks.ts";

type Keyed = { readonly key: string } | undefined;

/** The options of a task that an order concerns, also those of an enqueue with a key. */
interface Placed extends Pick<EnqueueOptions, "group" | "priority" | "id" | "dedup"> {
  readonly debounce?: Keyed;
  readonly throttle?: Keyed;
  readonly singleton?: Keyed;
}

/**
 * Checks a new task of a queue that is declared with a strict order: it has a group, and no priority. In a queue
 * that is divided, what says where it goes must be in the slot of the group.
 * @param path of the task in errors, such as `tasks[3].`
 * @throws {SluiceError} `invalid_argument`
 */
export function checkOrder(queue: MaybeDeclared, task: Placed | undefined, path = ""): void {
  const { name, settings, slotReason } = queue;
  if (settings?.order !== "strict") return;
  const why = `the queue ${name} has a strict order`;
  if (task?.group === undefined) throw invalidArgument(`${path}group`, `is required: ${why}`);
  if (task.priority !== undefined) throw invalidArgument(`${path}priority`, `must not be set: ${why}`);
  const also = slotReason?.();
  if (also === undefined) return;
  const { group } = task;
  const [at, place] = placeOf(task);
  // What has no such form is refused by the enqueue.
  if (typeof place !== "string" || typeof group !== "string" || slotOf(place) === slotOf(group)) return;
  throw invalidArgument(path + at, `must contain {${group}}: ${why}, and ${also}`);
}

/** What says where a task goes, before its group does: the name of the option, and its value. */
function placeOf(task: Placed): readonly [name: string, place: string | undefined] {
  const by = (["debounce", "throttle", "singleton"] as const).find((name) => task[name] !== undefined);
  if (by) return [`${by}.key`, task[by]?.key];
  return task.id === undefined ? ["dedup.key", task.dedup?.key] : ["id", task.id];
}

export const orderChecks: OrderChecks = { queue: inOrder, schedules: schedulesInOrder };

function inOrder<Q extends Adding>(known: MaybeDeclared, queue: Q): Q {
  if (known.settings?.order !== "strict") return queue;
  const enqueue = queue.enqueue.bind(queue);
  const enqueueMany = queue.enqueueMany.bind(queue);
  const checkTask: CheckTask = (task, path) => checkOrder(known, task, path);
  return Object.assign(queue, {
    checkTask,
    async enqueue(...call: Parameters<typeof enqueue>) {
      checkOrder(known, call[1]);
      return enqueue(...call);
    },
    async enqueueMany(...call: Parameters<typeof enqueueMany>) {
      const tasks: unknown = call[0];
      // What is no list is refused by the enqueue.
      if (Array.isArray(tasks))
        for (const [i, task] of (tasks as Placed[]).entries()) checkTask(task, `tasks[${i}].`);
      return enqueueMany(...call);
    },
  });
}

function schedulesInOrder<S extends Putting>(declared: MaybeDeclared, schedules: S): S {
  if (declared.settings?.order !== "strict") return schedules;
  const put = schedules.put.bind(schedules);
  return Object.assign(schedules, {
    async put(...call: Parameters<typeof put>) {
      checkOrder(declared, call[1]);
      return put(...call);
    },
  });
}
