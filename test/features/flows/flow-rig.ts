import { beforeEach, expect } from "vitest";
import { addFlow, type FlowOptions } from "../../../src/features/flows/add-flow.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { flows, Flows, withFlows } from "../../../src/http/flows/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { Operator, Queue, sweep } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";
import { flowQueueOf } from "./flow-queues.ts";

/** A rig whose queues may have tasks of flows. */
export function useFlowRig() {
  const rig = useRig({ checkInvariants: false });
  const queues = new Map<string, Queue<string>>();
  beforeEach(() => queues.clear());
  const options = () => ({ transport: linked(rig.transport), now: () => rig.now });

  function queue(name: string): Queue<string> {
    const known = queues.get(name) ?? new Queue<string>(name, options());
    queues.set(name, known);
    return known;
  }

  return {
    rig,
    queue,
    operator: (name: string) => new Operator(name, options()),
    flows: () => new Flows(options()),
    /** As a program does whose transport is not linked. */
    async sweep() {
      const { failed } = await sweep(rig.transport, { now: () => rig.now, also: [flows] });
      expect(failed).toEqual([]);
    },
    add: (items: readonly FlowItem<string>[], given: FlowOptions = {}) =>
      addFlow(items, (name) => flowQueueOf(queue(name)), { id: "f", ...given }),
    /** Takes the only ready task of a queue. */
    async take(name = "one") {
      const tasks = await withFlows(queue(name)).dequeue({ max: 10 });
      if (tasks.length !== 1) throw new Error(`${name} has ${tasks.length} tasks that are ready`);
      return tasks[0]!;
    },
  };
}

/** A task of a flow, whose payload is its ref. */
export const task = (
  ref: string,
  after: FlowItem<string>["after"] = [],
  options: Partial<FlowItem<string>> & { queue?: string } = {},
): FlowItem<string> => ({ ref, queue: "one", payload: ref, after, ...options });
