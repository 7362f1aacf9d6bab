/** Flows: tasks that wait for each other. */
export type { AddedFlow, FlowOptions } from "./add-flow.ts";
export { batch, type BatchOptions } from "./batch.ts";
export { flow } from "./flow.ts";
export type { PayloadOf, QueueOfFlow } from "./flow-queue.ts";
export type { After, EdgeOn, FlowItem, FlowTask, InnerFlow } from "./graph/flow-items.ts";
export type { BatchCallbacks, BatchTask } from "./graph/plan-batch.ts";
export { MAX_FLOW_TASKS } from "./graph/flow-items.ts";
export { flowsPart } from "./sweep-part.ts";
export type { Before, FlowNodeReport, FlowReport, FlowState } from "./types.ts";
