/** The entry of flows: all that programs use, and the part that turns them on in a deployment or an app. */
import { linkedWith } from "../../open/flows/linked-with.ts";
import { flowSource } from "../../open/flows/flow-source.ts";
import { flowsPart as sweepPart } from "../../features/flows/index.ts";
import type { FlowsPart } from "./part.ts";

export {
  type AddedBefore,
  type AddedFlow,
  type After,
  batch,
  type BatchCallbacks,
  type BatchOptions,
  type BatchTask,
  type Before,
  type EdgeOn,
  flow,
  type FlowCancelled,
  type FlowItem,
  type FlowNodeReport,
  type FlowOptions,
  type FlowRedriven,
  type FlowReport,
  type FlowState,
  type FlowTask,
  type InnerFlow,
  MAX_FLOW_TASKS,
  type QueueOfFlow,
} from "../../features/flows/index.ts";
export type { FlowBatch, FlowLeases, FlowSource } from "../../open/flows/flow-source.ts";
export type { FlowCalls } from "../../open/flows/flow-calls.ts";
export { Flows, type FlowsOptions } from "../../open/flows.ts";
export { withFlows, type WithFlowsOptions } from "../../open/flows/with-flows.ts";
export type { FlowsPart } from "./part.ts";

/**
 * Flows, for the option `flows` of a deployment, an app or a sweep.
 * @example export default sluice({ flows, consumers: [report.consumer(async (task) => send(await task.before()))] });
 */
export const flows: FlowsPart = {
  linked: linkedWith,
  sweepPart: (sweep) => {
    // The whole sweep has the linked edition of the scripts then.
    sweep.transport = linkedWith(sweep.transport);
    return sweepPart(sweep);
  },
  flowSource,
  paths: ["/v1/flows", "/v1/flows/*", "/v1/queues/:queue/tasks/:id/before"],
  routes: async () => (await import("../routes/flows.ts")).flowRoutes,
};
