/** The calls of a task that concern its flow. */
import { type Before, readBefore, type ReadQueue } from "../../features/flows/index.ts";
import type { SendOptions } from "../../kernel/transport.ts";

/** What a task has that may belong to a flow. */
export interface FlowCalls {
  /**
   * Reads what has become of the tasks and inner flows that it waited for. One request for each of their queues.
   * @returns by their refs; empty for a task of no flow. Inner flows have only a state
   * @throws {SluiceError} `undecryptable`, or a fault of the transport
   * @example const { fetch } = await task.before();
   */
  before(options?: SendOptions): Promise<Readonly<Record<string, Before>>>;
}

/** The queues of a flow, as a task of one of them sees them. */
export interface FlowQueues {
  readonly own: ReadQueue;
  /** Another queue, by its name. */
  readonly queueOf: (name: string) => ReadQueue;
}

/** The id of a task of a flow. */
const OF_FLOW = /^[^{]+\{.+@.+\}$/;

/** The calls of a task. They send nothing for a task of no flow. */
export function flowCalls({ id }: { readonly id: string }, { own, queueOf }: FlowQueues): FlowCalls {
  return {
    before: async (options) => (OF_FLOW.test(id) ? readBefore(id, own, queueOf, options) : {}),
  };
}
