export type { OutcomeCounts } from "../drain/drain-counts.ts";
export type { EnqueuedTask } from "./call-log.ts";
export { memoryStore } from "./memory-store.ts";
export { testDeployment, type TestDeployment, type TestDeploymentOptions } from "./test-deployment.ts";
export { testQueue, type DeadLetterInfo, type TestQueue, type TestQueueOptions } from "./test-queue.ts";
export { testTask, type Addition, type Extension, type TestTask, type TestTaskFields } from "./test-task.ts";
