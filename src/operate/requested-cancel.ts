import { span } from "../kernel/options/span.ts";
import type { TaskInfo } from "../kernel/record/task-info.ts";

/** After this a consumer that extends its leases has learned of a cancel, ms: a drain extends at least every 15 s. */
const NOTICED_WITHIN = 60_000;

/** When a cancel takes effect, for the sentence of a person. */
export const CANCEL_NOTICED = "its consumer learns of it within 15s, or when it next extends or settles";

/**
 * What a person reads of a cancel while the handler of its task has not ended: since when, and what to do.
 * @param now epoch ms
 * @returns undefined if none was requested
 */
export function requestedCancel(
  { cancelRequested, transitions, worker }: Pick<TaskInfo, "cancelRequested" | "transitions" | "worker">,
  now: number,
): string | undefined {
  if (!cancelRequested) return undefined;
  const at = transitions.findLast(({ to }) => to === "cancelRequested")?.at;
  const since = at === undefined ? "requested" : `requested ${span(now - at)} ago`;
  if (at !== undefined && now - at < NOTICED_WITHIN) return `${since}; ${CANCEL_NOTICED}`;
  const of = worker === undefined ? "" : ` of worker ${worker.name}`;
  return `${since}, and the handler has not ended: it hangs, or its consumer extends no lease. Restart the process${of}`;
}
