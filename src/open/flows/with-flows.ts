import { invalidArgument } from "../../errors.ts";
import { flowQueue, type QueueOfFlow, type ReadQueue } from "../../features/flows/index.ts";
import { linked } from "../../features/linked/index.ts";
import { listOf, onlyOptions } from "../../kernel/options/validation.ts";
import type { Queue } from "../queue.ts";
import type { QueueOptions } from "../options.ts";
import { type FlowLeases, flowLeases } from "./flow-source.ts";
import { flowCalls } from "./flow-tasks.ts";

export interface WithFlowsOptions {
  /**
   * Other queues whose tasks those of this queue wait for, if they have other options, such as another encryption.
   * @default each is reached as this queue is
   */
  readonly queues?: readonly QueueOfFlow[] | undefined;
}

/** What a queue keeps of what it was made of. */
interface MadeQueue<In, Out> {
  readonly options: QueueOptions<In, Out>;
  readonly constructor: new (name: string, options: QueueOptions<In, Out>) => Queue<In, Out>;
}

/**
 * Gives the tasks of a queue what concerns their flow, also those that a handler of `drain` gets: `before` reads what
 * became of the tasks that it waited for. Tasks of flows are delivered with the linked edition of the scripts: it sees to
 * that.
 * @returns the same queue, whose `dequeue` and `settleAndDequeue` return such tasks
 * @throws {SluiceError} `invalid_argument`
 * @example
 * await drain(withFlows(emails), async (task) => send(await task.before()));
 */
export function withFlows<In, Out>(
  queue: Queue<In, Out>,
  options: WithFlowsOptions = {},
): Omit<Queue<In, Out>, keyof FlowLeases<Out>> & FlowLeases<Out> {
  onlyOptions(options, ["queues"]);
  const { options: made, constructor: SameClass } = queue as unknown as MadeQueue<In, Out>;
  if (!made?.transport) throw invalidArgument("queue", "must be a Queue");
  const given = { ...made, transport: linked(made.transport) };
  const inner = made.transport === given.transport ? queue : new SameClass(queue.name, given);
  const { schema: _, ...ofOthers } = given;
  const others = new Map<string, ReadQueue>();
  const { queues = [] } = options;
  listOf(queues, "queues", Infinity);
  for (const [i, other] of queues.entries()) others.set(other?.name, flowQueue(other, `queues[${i}]`));
  const queueOf = (name: string) => {
    const known = others.get(name) ?? flowQueue(new SameClass(name, ofOthers), name);
    others.set(name, known);
    return known;
  };
  const ofTasks = { own: flowQueue(inner, "queue"), queueOf };
  return replaced(
    inner,
    flowLeases(inner, (task) => flowCalls(task, ofTasks)),
  );
}

/** A queue with some members of its own. */
export function replaced<Q extends object, Own extends object>(queue: Q, own: Own): Omit<Q, keyof Own> & Own {
  return new Proxy(queue, {
    has: (target, name) => name in own || name in target,
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof Own];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  }) as unknown as Omit<Q, keyof Own> & Own;
}
