import { invalidArgument } from "../../errors.ts";
import { flowQueue, type QueueOfFlow } from "../../features/flows/index.ts";
import { listOf, onlyOptions } from "../../kernel/options/validation.ts";
import type { Queue } from "../queue.ts";
import type { QueueOptions } from "../options.ts";
import { linkedWith } from "./linked-with.ts";
import { type FlowSource, flowSource } from "./flow-source.ts";

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
): FlowSource<In, Out> {
  onlyOptions(options, ["queues"]);
  const { options: made, constructor: SameClass } = queue as unknown as MadeQueue<In, Out>;
  if (!made?.transport) throw invalidArgument("queue", "must be a Queue");
  const given = { ...made, transport: linkedWith(made.transport, made.wake) };
  const { schema: _, ...ofOthers } = given;
  const { queues = [] } = options;
  listOf(queues, "queues", Infinity);
  for (const [i, other] of queues.entries()) flowQueue(other, `queues[${i}]`);
  const queueOf = (name: string) =>
    queues.find((other) => other.name === name) ?? new SameClass(name, ofOthers);
  return flowSource(new SameClass(queue.name, given), queueOf);
}
