import { QueueHandle } from "./handle.ts";

/** Looks at a queue's tasks and operates on them: pages, deletes, redrives, purges. */
export class TaskOperator extends QueueHandle {}
