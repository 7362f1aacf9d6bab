/**
 * What plain calls do without, loaded at its first use: values that are not plain JSON, the options `schema`,
 * `encryption` and `onDeadLetter`, idempotency keys, groups, dequeues with a signal, waiting, watching and events.
 */
export { losslessJson } from "../kernel/record/codec.ts";
export { reportSettled } from "../kernel/record/settled-dead-letters.ts";
export { derivedName, derivedTaskIds } from "../kernel/names/derived-ids.ts";
export { eventsOf, waitForEnd } from "../kernel/tasks/watch.ts";
export { runAbortable } from "./abortable.ts";
export { followEvents } from "./events.ts";
export { placedId } from "./placed-id.ts";
export { decodeReply, openTask, settlementJson, taskJson } from "./values.ts";
