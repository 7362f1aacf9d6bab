/** Flows: tasks that wait for each other. */
export { addBefore, type AddedBefore } from "./add-before.ts";
export { planFlow } from "./graph/plan-flow.ts";
export type { AddedFlow, FlowOptions } from "./add-flow.ts";
export { type ReadQueue, readBefore } from "./before.ts";
export { batch, type BatchOptions } from "./batch.ts";
export { flow } from "./flow.ts";
export { flowQueue, type QueueOfFlow } from "./flow-queue.ts";
export type { After, EdgeOn, FlowItem, FlowTask, InnerFlow } from "./graph/flow-items.ts";
export type { BatchCallbacks, BatchTask } from "./graph/plan-batch.ts";
export { MAX_FLOW_TASKS } from "./graph/flow-items.ts";
export { flowsPart } from "./sweep-part.ts";
export type { Before, FlowNodeReport, FlowReport, FlowState } from "./types.ts";
export { cancelWholeFlow, type FlowCancelled, type FlowRedriven, redriveWholeFlow } from "./operate-flow.ts";
export { reportFlow } from "./report-flow.ts";
export { flowsRepair } from "./deep-part.ts";
