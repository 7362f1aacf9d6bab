/** Flows: tasks that wait for each other. */
export { addBefore, type AddedBefore } from "./add-before.ts";
export { addedRoot } from "./front-of.ts";
export { planBatch } from "./graph/plan-batch.ts";
export { planFlow } from "./graph/plan-flow.ts";
export type { FlowPlan } from "./graph/flow-plan.ts";
export type { AddedFlow, FlowOptions } from "./add-flow.ts";
export { readBefore, readEachBefore, type ReadQueue } from "./before.ts";
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
