import { operatorOf } from "./operator.ts";
import { matches, QUEUE_PATTERN, queuePatternForm } from "../kernel/names/queue-pattern.ts";
import { invalidArgument } from "../errors.ts";
import type { Transport } from "../kernel/transport.ts";
import { queueNames } from "../operate/queue-names.ts";
import {
  type FindTasksOptions,
  type FoundTasks,
  type SearchableQueue,
  searchQueues,
} from "../operate/search-queues.ts";
import { opening } from "./opening.ts";

/** Most queues of a search. */
const MOST_QUEUES = 10_000;

/**
 * Searches all queues for a text: in ids, payloads, errors and results. A task with the text as its id comes first.
 * Then the queues are searched in the order of their names; in each first dead letters, then working, pending, delayed,
 * completed and cancelled tasks, the last ones first.
 *
 * One call looks at some 20,000 tasks at most. A page may have few tasks or none although the cursor is not null. What
 * is encrypted or in an object store is not searched, and counted.
 * @param transport how to reach Redis, such as `upstash(env)`
 * @throws {SluiceError}
 * @example const { tasks, cursor } = await findTasks(upstash(env), { text: "a@example.com" })
 */
export function findTasks(transport: Transport, options: FindTasksOptions): Promise<FoundTasks> {
  const { prefix, now } = options;
  // What is encrypted stays as it is.
  const open = opening({ transport, prefix, now, encryption: null });
  return findAmong(
    transport,
    options,
    () => true,
    (name) => {
      const operator = operatorOf(open(name));
      return { search: (page) => operator.search(page), get: (id) => open(name).queue().get(id) };
    },
  );
}

/** As {@link findTasks}, in queues that a caller may see. */
export async function findAmong(
  transport: Transport,
  options: FindTasksOptions,
  maySee: (name: string) => boolean,
  open: (name: string) => SearchableQueue,
): Promise<FoundTasks> {
  const { queues = "*", prefix, signal, now } = options;
  if (typeof queues !== "string" || !QUEUE_PATTERN.test(queues))
    throw invalidArgument("queues", queuePatternForm);
  const isWanted = (name: string) => matches(queues, name) && maySee(name);
  const { names } = await queueNames(transport, isWanted, MOST_QUEUES, { prefix, signal, now });
  return searchQueues(transport, names, open, options);
}
