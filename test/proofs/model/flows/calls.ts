/** Each operation on flows as a call of the library. */
import { flow, flowQueue, readBefore } from "../../../../src/features/flows/index.ts";
import { Queue } from "../../../../src/index.ts";
import { Flows } from "../../../../src/open/flows.ts";
import type { Client } from "../client.ts";
import type { Of } from "../operations.ts";
import type { FlowOperation, FlowOperationItem } from "./operations.ts";

const queuesOf = ({ options: { names, transport, now } }: Client) =>
  new Map(names.map((name) => [name, new Queue(name, { transport, now })]));

type Calls = {
  readonly [D in FlowOperation["does"]]: (client: Client, operation: Of<D>) => Promise<unknown>;
};

export const FLOW_CALLS: Calls = {
  addFlow: (client, { id, items, onFailure }) => {
    const queues = queuesOf(client);
    const given = (all: readonly FlowOperationItem[]): unknown[] =>
      all.map((item) =>
        "flow" in item ? { ...item, flow: given(item.flow) } : { ...item, queue: queues.get(item.queue) },
      );
    return flow(given(items) as never, { id, ...(onFailure && { onFailure }) });
  },
  cancelFlow: ({ options: { transport, now } }, { id }) => new Flows({ transport, now }).cancel(id),
  redriveFlow: ({ options: { transport, now } }, { id }) => new Flows({ transport, now }).redrive(id),
  before: (client, { id }) => {
    const queues = queuesOf(client);
    const queueNamed = (name: string) => flowQueue(queues.get(name) as never, "queue");
    return readBefore(id, queueNamed(client.options.name), queueNamed);
  },
  dying: (client, { operation }) => client.callDirectly(operation),
};
