/** What a run has come across, so that a choice that is never made is noticed. */
import type { Operation } from "./operations.ts";
import type { Happened } from "./real.ts";

/** What a run of each kind meets. */
export const MET = [
  "enqueue true",
  "enqueue false",
  "dequeue none",
  "dequeue one",
  "dequeue more",
  "complete completed",
  "reject rejected",
  "requeue pending",
  "requeue delayed",
  "requeue rejected",
  "return pending",
  "extend working",
  ...["complete", "reject", "requeue", "return", "extend"].map((outcome) => `${outcome} lease_lost`),
  "cancel rejected",
  "cancel working",
  "cancel not_found",
  "cancel already_ended",
  "cancel lease_lost",
  ...["delayed", "working", "expiry", "dead", "workers", "workerLeases"].map((place) => `tasks are ${place}`),
];

/** What a run with groups meets besides. */
export const MET_SHARED = ["fair", "limited"].map((place) => `tasks are ${place}`);

interface Told {
  readonly ok?: boolean;
  readonly state?: string;
  readonly code?: string;
  readonly created?: boolean;
}

const nameOf = ({ state, code, created }: Told) => String(state ?? code ?? created);

/** What one call came across. */
export function metBy(operation: Operation, { answer, after }: Happened): string[] {
  const met = Object.entries(after).flatMap(([place, members]) =>
    members instanceof Map && members.size > 0 ? [`tasks are ${place}`] : [],
  );
  const reported = answer as readonly Told[] & { readonly settled?: readonly Told[] };
  if (operation.does === "enqueue" && Array.isArray(answer)) {
    met.push(...reported.map((one) => `enqueue ${nameOf(one)}`));
  }
  if (operation.does === "dequeue") met.push(`dequeue ${["none", "one"][reported.length] ?? "more"}`);
  if (operation.does === "settle") {
    const settled = reported.settled ?? reported;
    met.push(...operation.items.map(({ outcome }, i) => `${outcome} ${nameOf(settled[i] ?? {})}`));
  }
  if (operation.does === "cancel") met.push(`cancel ${nameOf(answer as Told)}`);
  return met;
}
