import type { Task } from "../../drain/types.ts";
import { SluiceError } from "../../errors.ts";
import type { FlowsPart } from "../../http/flows/part.ts";
import { isOff } from "../../http/parts.ts";
import type { FlowCalls } from "../../open/flows/flow-calls.ts";

/**
 * A task as the handlers of a deployment get it.
 * @param flows has given it the calls of flows. If it is off, they throw `unsupported`
 */
export function maybeOfFlow<T>(task: Task<T>, flows: FlowsPart | undefined): Task<T> & FlowCalls {
  return flows ? (task as Task<T> & FlowCalls) : Object.assign(task, off);
}

const refuse = () => Promise.reject(new SluiceError("unsupported", isOff("has no flows", "flows")));

const off: FlowCalls = { before: refuse, addBefore: refuse };
