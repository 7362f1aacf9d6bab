/**
 * What plain calls do without, loaded at its first use: values that are not plain JSON, the options `schema`,
 * `encryption` and `onDeadLetter`, idempotency keys, dequeues with a signal, waiting and watching.
 */
export { losslessJson } from "../queue/core/codec.ts";
export { reportSettled } from "../queue/core/dead-letter.ts";
export { derivedName, derivedTaskIds } from "../queue/core/derived-ids.ts";
export { eventsOf, waitForEnd } from "../queue/tasks/watch.ts";
export { runAbortable } from "./abortable.ts";
export { decodeReply, openTask, settlementJson, taskJson } from "./values.ts";
