/** The calls of a task that concern its flow. */
import {
  addBefore,
  type AddedBefore,
  type Before,
  type FlowItem,
  flowQueue,
  type QueueOfFlow,
  readBefore,
  type ReadQueue,
} from "../../features/flows/index.ts";
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
  /**
   * Adds tasks that a blocked task waits for from now on, as it waits for this one: for their completion, or their end.
   * A call with the same refs adds nothing, so the handler may be run again. The flow, and `before`, have them under the
   * ref of this task, such as `crawl/page`, of at most 1,000 characters. With these the flow has at most 10,000 tasks.
   * @param ref of what waits for this task; or of the inner flow or the batch that this task is in
   * @param items tasks and inner flows, as of a flow
   * @returns the ids of the tasks; or `ok: false` if the lease is lost, or what should wait is rejected or cancelled
   * @throws {SluiceError} `invalid_argument`, `too_large`, `queue_full`, or a fault of the transport
   * @example await task.addBefore("index", [{ ref: "page", queue: pages, payload: { url } }]);
   */
  addBefore(
    ref: string,
    items: readonly FlowItem<QueueOfFlow>[],
    options?: SendOptions,
  ): Promise<AddedBefore>;
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
export function flowCalls(
  { id, receipt }: { readonly id: string; readonly receipt: string },
  { own, queueOf }: FlowQueues,
): FlowCalls {
  return {
    addBefore: (ref, items, options) =>
      addBefore({ receipt, store: own.store }, ref, items, flowQueue, options),
    before: async (options) => (OF_FLOW.test(id) ? readBefore(id, own, queueOf, options) : {}),
  };
}
