/** The parts of request bodies, as they are sent and as the model takes them. */
import type { Duration } from "../../src/index.ts";
import { milliseconds } from "../../src/queue/core/duration.ts";
import type { ModelNewTask } from "../model/enqueue.ts";
import type { OperationSettlement, OperationWorker, Pull } from "../model/operations.ts";
import type { Rate } from "../model/state.ts";
import { isObject } from "./document.ts";

export type Fields = Readonly<Record<string, unknown>>;

export function some(fields: Fields, ...names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
}

export const ms = (value: unknown) =>
  value === undefined ? undefined : milliseconds(value as Duration, "duration");
export const withMs = (fields: Fields, ...names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, ms(fields[name])]])));

/** Other characters are escaped in the raw keys, with which the model is compared. */
export const plainName = (name: unknown) =>
  typeof name === "string" ? name.replaceAll(/[;%]/g, "x") : undefined;
export const plainGroup = (fields: Fields) =>
  fields["group"] === undefined ? {} : { group: plainName(fields["group"]) };

export function newTask(task: Fields, id: string): { sent: Fields; asked: ModelNewTask } {
  const numbers = some(task, "at", "maxAttempts", "priority", "again");
  const headers =
    isObject(task["headers"]) && Object.keys(task["headers"]).length > 0 ? some(task, "headers") : {};
  const same = {
    id: task["id"] ?? id,
    payload: task["payload"],
    ...numbers,
    ...headers,
    ...plainGroup(task),
  };
  const { dedup } = task;
  const durations = ["delay", "lease", "resultTtl", "deadTtl", "unique"];
  const asked = {
    ...same,
    ...withMs(task, ...durations),
    ...(isObject(dedup) && { dedup: { ...dedup, ...withMs(dedup, "window") } }),
  };
  return {
    sent: { ...same, ...some(task, ...durations, "dedup") },
    asked: asked as unknown as ModelNewTask,
  };
}

export function workerOf(worker: unknown): { sent: Fields; asked: OperationWorker } | undefined {
  if (!isObject(worker)) return undefined;
  const same = {
    name: plainName(worker["name"]) as string,
    ...(worker["incarnation"] !== undefined && { incarnation: plainName(worker["incarnation"]) as string }),
  };
  return {
    sent: { ...same, ...some(worker, "silentAfter") },
    asked: { ...same, ...withMs(worker, "silentAfter") },
  };
}

export function pullOf(pull: Fields, step: number): { sent: Fields; asked: Pull } {
  const worker = workerOf(pull["worker"]);
  const token = (pull["token"] ?? `token-of-${step}`) as string;
  const single = pull["maxBytes"] === undefined ? undefined : true;
  return {
    sent: {
      token,
      ...some(pull, "max", "lease"),
      ...(worker && { worker: worker.sent }),
      ...(single && { maxBytes: 1 }),
    },
    asked: {
      token,
      max: (pull["max"] ?? 1) as number,
      single,
      ...withMs(pull, "lease"),
      ...(worker && { worker: worker.asked }),
      // With a token of the caller's own, any copy may be a resend.
      flagged: true,
    },
  };
}

export function settlementOf(settlement: Fields): { sent: Fields; asked: OperationSettlement } {
  const { receipt, outcome, unstarted } = settlement as {
    receipt: string;
    outcome: string;
    unstarted?: boolean;
  };
  if (unstarted === true)
    return { sent: { receipt, outcome, unstarted }, asked: { receipt, outcome: "unstarted" } };
  const [duration, text] = {
    complete: ["ttl", "result"],
    reject: ["ttl", "error"],
    requeue: ["delay", "error"],
    extend: ["lease", "progress"],
  }[outcome] as [string, string];
  return {
    sent: some(settlement, "receipt", "outcome", "count", duration, text),
    asked: {
      receipt,
      outcome: outcome as OperationSettlement["outcome"],
      ms: ms(settlement[duration]) ?? (outcome === "requeue" ? 0 : undefined),
      count: settlement["count"] as boolean | undefined,
      text: settlement[text],
    },
  };
}

export function rateOf(changes: Fields): { rate?: Rate | null } {
  const { rate } = changes;
  if (!isObject(rate)) return rate === null ? { rate: null } : {};
  return { rate: { most: rate["most"] as number, per: ms(rate["per"]) as number } };
}

/** Null unsets. */
export function unset(changes: Fields, defaults: Fields): Fields {
  return Object.fromEntries(
    Object.keys(defaults).flatMap((name) =>
      changes[name] === undefined ? [] : [[name, changes[name] ?? defaults[name]]],
    ),
  );
}
