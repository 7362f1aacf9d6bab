import { span } from "../../kernel/options/span.ts";
import type { FindingStatus } from "./codes.ts";

/** What was found in a check. */
export interface Finding<Code extends string = string> {
  readonly status: FindingStatus;
  /** What was checked. It names the fault, also if there is none. */
  readonly code: Code;
  /** What was checked, for people: such as `clock`, or the name of a queue. */
  readonly about: string;
  /** What was found, for people. */
  readonly found: string;
  /** What to do; absent if nothing. */
  readonly advice?: string;
}

/** Makes a finding. @param advice what to do. @default nothing */
export function finding<Code extends string>(
  status: FindingStatus,
  code: Code,
  about: string,
  found: string,
  advice?: string,
): Finding<Code> {
  return { status, code, about, found, ...(advice !== undefined && { advice }) };
}

/** How long ago something was. */
export const ago = (ms: number): string => (ms < 1_000 ? "just now" : `${span(ms)} ago`);

/** How bad all findings together are. */
export type Health = Exclude<FindingStatus, "unknown">;

/** The worst of some findings; what could not be checked counts as fine. */
export function worst(findings: readonly Finding[]): Health {
  const has = (least: Health) => findings.some(({ status }) => isAtLeast(status, least));
  return has("problem") ? "problem" : has("warning") ? "warning" : "ok";
}

/** Whether a status is as bad as another one, or worse. */
export function isAtLeast(status: FindingStatus, least: Health): boolean {
  return status === least || status === "problem" || least === "ok";
}
