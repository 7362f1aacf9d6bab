/** Checks new tasks of queues that are declared with a strict order, in whatever way they are added. */
import { invalidArgument } from "../errors.ts";
import { isKnownSplit } from "../features/partitions/index.ts";
import type { CheckTask } from "../kernel/hooks.ts";
import { slotOf } from "../kernel/names/slots.ts";
import type { EnqueueOptions } from "../kernel/options/types.ts";
import type { Producer } from "../kernel/producer.ts";
import type { Adds } from "../kernel/store.ts";
import type { QueueDefinition } from "./definition.ts";
import type { Schedules } from "./schedules/schedules.ts";

/** A queue that may be declared. */
type MaybeDeclared = Pick<QueueDefinition, "name" | "options"> & {
  readonly settings?: { readonly order?: unknown } | undefined;
  /** Whether it is known to have partitions, also if none are declared. */
  readonly isDivided?: (() => boolean) | undefined;
};

type Keyed = { readonly key: string } | undefined;

/** Queues with any types. */
type Adding = Pick<Producer<never, never>, "enqueue" | "enqueueMany">;

/** The options of a task that an order concerns, also those of an enqueue with a key. */
interface Placed extends Pick<EnqueueOptions, "group" | "priority" | "id" | "dedup"> {
  readonly debounce?: Keyed;
  readonly throttle?: Keyed;
  readonly singleton?: Keyed;
}

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
  if ((options.partitions ?? 1) === 1 && !queue.isDivided?.()) return;
  const { group } = task;
  const [at, place] = placeOf(task);
  // What has no such form is refused by the enqueue.
  if (typeof place !== "string" || typeof group !== "string" || slotOf(place) === slotOf(group)) return;
  throw invalidArgument(path + at, `must contain {${group}}: ${why}, and partitions`);
}

/** What says where a task goes, before its group does: the name of the option, and its value. */
function placeOf(task: Placed): readonly [name: string, place: string | undefined] {
  const by = (["debounce", "throttle", "singleton"] as const).find((name) => task[name] !== undefined);
  if (by) return [`${by}.key`, task[by]?.key];
  return task.id === undefined ? ["dedup.key", task.dedup?.key] : ["id", task.id];
}

/**
 * The same queue. In whatever way tasks are added to it, the order that is declared is checked: features that do not
 * call its `enqueue` take its `checkTask`.
 */
export function inOrder<Q extends Adding>(declared: MaybeDeclared, queue: Q): Q {
  if (declared.settings?.order !== "strict") return queue;
  const { store } = queue as unknown as { readonly store: Pick<Adds, "queue"> };
  const { name, options, settings } = declared;
  const known: MaybeDeclared = { name, options, settings, isDivided: () => isKnownSplit(store.queue) };
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
      const [tasks] = call;
      // What is no list is refused by the enqueue.
      if (Array.isArray(tasks)) for (const [i, task] of tasks.entries()) checkTask(task, `tasks[${i}].`);
      return enqueueMany(...call);
    },
  });
}

/** The same schedules. Those that are put are checked as tasks are. */
export function schedulesInOrder<T>(declared: MaybeDeclared, schedules: Schedules<T>): Schedules<T> {
  if (declared.settings?.order !== "strict") return schedules;
  const put = schedules.put.bind(schedules);
  return Object.assign(schedules, {
    async put(...call: Parameters<typeof put>) {
      checkOrder(declared, call[1]);
      return put(...call);
    },
  });
}
