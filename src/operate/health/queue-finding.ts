import type { FindingStatus, QueueCode } from "./codes.ts";
import { type Finding, finding } from "./finding.ts";

export interface QueueFinding extends Finding<QueueCode> {
  readonly queue: string;
  /** The schedules, groups, workers or tasks that it is about; of many only the first ones. */
  readonly names?: readonly string[];
}

/** Makes a finding about a queue. */
export function found(
  status: FindingStatus,
  code: QueueCode,
  queue: string,
  text: string,
  advice: string,
  names?: readonly string[],
): QueueFinding {
  return { ...finding(status, code, queue, text, advice), queue, ...(names && { names }) };
}
