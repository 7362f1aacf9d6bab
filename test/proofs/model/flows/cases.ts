/** The cases of flows that runs have to cover. */
import type { QueueSpace } from "../../../support/key-space.ts";
import type { Operation } from "../operations.ts";
import type { Happened } from "../real.ts";
import { NEVER, NEVER_DELIVERED } from "./state.ts";

export const FLOW_CASES = [
  "tasks are blocked",
  "joins wait",
  "tasks fall",
  "fallen tasks are blocked again",
  ...["node", "field", "cancel"].map((kind) => `${kind} in an outbox`),
  ...["node", "field", "cancel"].map((kind) => `${kind} left to a sweep`),
  ...["completed", "rejected", "null"].map((state) => `before ${state}`),
  "a flow has ended",
  "a flow is forgotten",
  "cancelFlow true",
  "redriveFlow true",
];

const kindOf = (member: string) =>
  member.includes(" !") ? "cancel" : member.includes(" ") ? "field" : "node";

const outboxOf = ({ expiry }: QueueSpace) => [...expiry.keys()].filter((member) => member.startsWith("~x:"));

/** The cases that one call covered. */
export function flowCasesOf(operation: Operation, { answer, before, after }: Happened): string[] {
  const met: string[] = [];
  const scores = new Set(Array.from(after.delayed.values(), Math.floor));
  if (scores.has(NEVER)) met.push("tasks are blocked");
  if (scores.has(NEVER_DELIVERED)) met.push("joins wait");
  const left = outboxOf(after);
  met.push(...left.map((member) => `${kindOf(member)} in an outbox`));
  if (operation.does === "sweep" && !operation.once) {
    const done = outboxOf(before).filter((member) => !left.includes(member));
    met.push(...done.map((member) => `${kindOf(member)} left to a sweep`));
  }
  for (const [field, record] of after.tasks) {
    if (record.includes(";y=dependency_failed")) met.push("tasks fall");
    if (/;h=\w*r\d+b\d+/.test(record)) met.push("fallen tasks are blocked again");
    if (field.startsWith("~F:") && (after.expiry.get(field) ?? NEVER) < NEVER) met.push("a flow has ended");
  }
  if ([...before.tasks.keys()].some((field) => field.startsWith("~F:") && !after.tasks.has(field)))
    met.push("a flow is forgotten");
  if (operation.does === "before") {
    const found = Object.values(answer as Record<string, { readonly state: string | null }>);
    met.push(...found.map(({ state }) => `before ${state}`));
  }
  if (operation.does === "cancelFlow" || operation.does === "redriveFlow")
    met.push(`${operation.does} ${(answer as { readonly ok?: boolean }).ok}`);
  return met;
}
