/** The cases that runs have covered, so that a case that never occurs is noticed. */
import type { QueueSpace } from "../../support/key-space.ts";
import { casesOfKey } from "./keys/key-cases.ts";
import { FLOW_CASES, flowCasesOf } from "./flows/cases.ts";
import type { Operation } from "./operations.ts";
import type { Happened } from "./real.ts";

/** The cases that the runs of all kinds have to cover together. */
const CASES = [
  "enqueue true",
  "enqueue false",
  "handed over",
  "not handed over",
  "dequeue none",
  "dequeue one",
  "dequeue more",
  "complete completed",
  "reject rejected",
  "requeue pending",
  "requeue delayed",
  "requeue rejected",
  "unstarted pending",
  "extend working",
  ...["complete", "reject", "requeue", "unstarted", "extend"].map((outcome) => `${outcome} lease_lost`),
  "cancel rejected",
  "cancel working",
  "cancel not_found",
  "cancel already_ended",
  "cancel lease_lost",
  "skip true",
  ...["created", "replaced", "dropped", "appended"].map((outcome) => `debounce ${outcome}`),
  "a list starts, and another begins",
  ...["created", "dropped", "delayed"].map((outcome) => `throttle ${outcome}`),
  ...["created", "replaced", "dropped", "cancelled", "flagged"].map((outcome) => `singleton ${outcome}`),
  ...["created", "replaced", "dropped"].map((outcome) => `replace ${outcome}`),
  "forgetKey true",
  "forgetKey false",
  ...["the queue", "a group"].map((what) => `${what} is paused for a time`),
  "a settlement pauses the queue",
  "groups are stopped",
  ...FLOW_CASES,
  ...["delayed", "working", "expiry", "dead", "workers", "workerLeases", "fair", "limited"].map(
    (place) => `tasks are ${place}`,
  ),
];

export const casesMissing = (met: ReadonlySet<string>): string[] => CASES.filter((one) => !met.has(one));

interface Answered {
  readonly ok?: boolean;
  readonly state?: string;
  readonly code?: string;
  readonly created?: boolean;
}

const nameOf = ({ state, code, created }: Answered) => String(state ?? code ?? created);

/** When the pause of the queue ends; 0 without one. */
const endOfPause = ({ tasks }: QueueSpace) => Number(/;p=(\d+)/.exec(tasks.get("~set") ?? "")?.[1] ?? 0);

/** The cases that one call covered. */
export function casesOf(operation: Operation, happened: Happened): string[] {
  const { answer, before, after } = happened;
  const met = Object.entries(after).flatMap(([place, members]) =>
    members instanceof Map && members.size > 0 ? [`tasks are ${place}`] : [],
  );
  const answers = answer as readonly Answered[] & { readonly settled?: readonly Answered[] };
  if (operation.does === "enqueue" && Array.isArray(answer)) {
    met.push(...answers.map((one) => `enqueue ${nameOf(one)}`));
  }
  if (operation.does === "enqueueNew" && operation.consumer === "here") {
    const { leased = [] } = answer as { readonly leased?: readonly unknown[] };
    met.push(leased.length > 0 ? "handed over" : "not handed over");
  }
  if (operation.does === "dequeue") met.push(`dequeue ${["none", "one"][answers.length] ?? "more"}`);
  if (operation.does === "settle") {
    const settled = answers.settled ?? answers;
    met.push(...operation.items.map(({ outcome }, i) => `${outcome} ${nameOf(settled[i] ?? {})}`));
  }
  if (operation.does === "enqueueKeyed") met.push(...casesOfKey(operation, happened));
  if (operation.does === "forgetKey") met.push(`forgetKey ${answer === true}`);
  if (operation.does === "pause" && operation.for !== undefined) met.push("the queue is paused for a time");
  if (operation.does === "configureGroup" && typeof operation.changes.paused === "object")
    met.push("a group is paused for a time");
  if (operation.does === "settle" && endOfPause(after) > endOfPause(before))
    met.push("a settlement pauses the queue");
  if (operation.does === "skip") met.push(`skip ${(answer as { readonly ok: boolean }).ok}`);
  if ([...after.fairByGroup.keys()].some((member) => member.startsWith("~~"))) met.push("groups are stopped");
  if (operation.does === "cancel") met.push(`cancel ${nameOf(answer as Answered)}`);
  met.push(...flowCasesOf(operation, happened));
  return met;
}
