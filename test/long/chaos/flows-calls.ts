/** The calls of flows, as a process makes them: through the gateway, or through the HTTP interface. */
import { createFlowClient, type FlowClient } from "../../../src/client/flows/index.ts";
import { batch, flow, type FlowItem, Flows } from "../../../src/http/flows/index.ts";
import { Queue } from "../../../src/index.ts";
import { readReceipt } from "../../../src/kernel/names/receipt.ts";
import { flowCalls } from "../../../src/open/flows/flow-calls.ts";
import { flowQueue } from "../../../src/features/flows/index.ts";
import type { BatchTask } from "../../../src/features/flows/index.ts";
import type { DrawnFlow } from "./flows-evidence.ts";
import type { RunProcess } from "./run-process.ts";

/** What processes do with flows. */
export interface ChaosFlows extends Pick<FlowClient, "get" | "cancel" | "redrive"> {
  add(
    drawn: DrawnFlow,
    options: { readonly id: string; readonly onFailure?: "cancel" | undefined },
  ): Promise<unknown>;
  /** Of a working task. */
  before(queue: string, receipt: string): ReturnType<FlowClient["before"]>;
  addBefore(
    queue: string,
    receipt: string,
    ref: string,
    items: readonly FlowItem<string>[],
  ): ReturnType<FlowClient["addBefore"]>;
}

const known = new WeakMap<RunProcess, ChaosFlows>();

export function flowsOf(runProcess: RunProcess): ChaosFlows {
  const flows = known.get(runProcess) ?? (isOverHttp(runProcess) ? overHttp(runProcess) : direct(runProcess));
  known.set(runProcess, flows);
  return flows;
}

const isOverHttp = ({ env }: RunProcess) => env.CHAOS_THROUGH === "server";

function overHttp({ env: { CHAOS_SERVER: url, CHAOS_TOKEN: token } }: RunProcess): ChaosFlows {
  const client = createFlowClient({ url, token });
  return {
    get: client.get,
    cancel: client.cancel,
    redrive: client.redrive,
    add: (drawn, options) =>
      "items" in drawn
        ? client.flow(drawn.items, options)
        : client.batch(drawn.tasks, { ...drawn.callbacks, ...options }),
    before: (queue, receipt) => client.before(queue, readReceipt(receipt, "receipt").id),
    addBefore: (queue, receipt, ref, items) => client.addBefore(queue, { receipt }, ref, items),
  };
}

function direct(runProcess: RunProcess): ChaosFlows {
  const transport = runProcess.transport();
  const queues = new Map<string, Queue>();
  const queueOf = (name: string): Queue => {
    const queue = queues.get(name) ?? new Queue(name, { transport, resultTtl: "1m" });
    queues.set(name, queue);
    return queue;
  };
  const placed = <Item extends { readonly queue: string }>(task: Item) => ({
    ...task,
    queue: queueOf(task.queue),
  });
  const itemsOf = (items: readonly FlowItem<string>[]): FlowItem<Queue>[] =>
    items.map((item) => ("flow" in item ? { ...item, flow: itemsOf(item.flow) } : placed(item)));
  const whole = new Flows({ transport });
  const callsOf = (queue: string, receipt: string) =>
    flowCalls(
      { id: readReceipt(receipt, "receipt").id, receipt },
      { own: flowQueue(queueOf(queue), "queue"), queueOf: (name) => flowQueue(queueOf(name), name) },
    );
  return {
    get: (id) => whole.get(id),
    cancel: (id) => whole.cancel(id),
    redrive: (id) => whole.redrive(id),
    async add(drawn, options) {
      if ("items" in drawn) return flow(itemsOf(drawn.items), options);
      const callbacks = Object.entries(drawn.callbacks).map(([name, task]) => [
        name,
        placed(task as BatchTask<string>),
      ]);
      return batch(drawn.tasks.map(placed), { ...Object.fromEntries(callbacks), ...options });
    },
    before: (queue, receipt) => callsOf(queue, receipt).before(),
    addBefore: (queue, receipt, ref, items) => callsOf(queue, receipt).addBefore(ref, itemsOf(items)),
  };
}
