/**
 * The random values of calls, by fast-check. There are few ids, groups, workers and keys, so that calls meet.
 */
import {
  boolean,
  constant,
  constantFrom,
  nat,
  oneof,
  option,
  record as anyRecord,
  type Arbitrary,
} from "fast-check";
import type { ModelNewSchedule } from "./schedules.ts";
import type { OperationSettlement, OperationWorker, Pull } from "./operations.ts";

export const oneOf = <const T>(...values: readonly T[]) => constantFrom(...values);
/** A plain object, as callers write it. */
export function record<T extends object, K extends keyof T = keyof T>(
  model: { [name in keyof T]: Arbitrary<T[name]> },
  { requiredKeys }: { requiredKeys?: K[] } = {},
) {
  const keys = requiredKeys ?? (Object.keys(model) as K[]);
  return anyRecord<T, K>(model, { requiredKeys: keys, noNullPrototype: true });
}

/** Absent that many times as often as present. `option` with `freq: 1` would leave it out each time. */
export const maybe = <T>(arbitrary: Arbitrary<T>, absent = 1): Arbitrary<T | undefined> =>
  oneof(
    { withCrossShrink: true },
    { weight: absent, arbitrary: constant(undefined) },
    { weight: 1, arbitrary },
  );

/** One of them has what is escaped in paths and records. */
export const id = nat(11).map((i) => (i === 11 ? "Z;%~/?#.1" : `t${i}`));
const payload = oneOf<unknown>(0, "", null, [], { to: "a@example.com" }, "42", new Uint8Array([0, 255]));
export const worker: Arbitrary<OperationWorker> = record({
  name: oneOf("w1", "w2"),
  incarnation: maybe(oneOf("x", "y")),
  silentAfter: maybe(oneOf(800, 3_000), 1),
  goneAfter: maybe(oneOf(700, 2_500), 1),
});
export const leaseTime = oneOf(1_000, 2_000, 5_000);
export const group = oneOf("a", "b", "c");

export const plainTask = record({ id, payload });

/** A task with a small choice of everything; with groups and priorities only if they are in use. */
export const task = (grouped: boolean | "without priorities") =>
  record(
    {
      id,
      payload,
      headers: maybe(constant({ from: "edge" }), 4),
      delay: maybe(oneOf(1, 700, 3_000), 3),
      at: maybe(oneOf(0, 1_700_000_005_000, 1_700_000_400_000), 9),
      lease: maybe(leaseTime, 5),
      maxAttempts: maybe(oneOf(0, 1, 2, 3), 1),
      resultTtl: maybe(oneOf(0, 1_000, 400_000), 4),
      deadTtl: maybe(oneOf(0, 1_000, 400_000), 4),
      ...(grouped && { group: maybe(group, 1) }),
      ...(grouped === true && { priority: maybe(oneOf(0, 1, 9), 4) }),
      once: oneOf("", "", "", "again", "k1", "k2"),
      unique: maybe(oneOf(0, 1_000, 400_000, 4_000_000), 4),
    },
    { requiredKeys: ["id", "payload", "once"] },
  ).map(({ once, unique, delay, at, ...rest }) => ({
    ...rest,
    ...(at === undefined ? delay !== undefined && { delay } : { at }),
    ...(once === "again" && { again: true }),
    ...(once !== "again" && unique !== undefined && { unique }),
    ...(once.startsWith("k") && { dedup: { key: once, window: 2_000 } }),
  }));

/** A task that is plain unless it is delayed or has a group. */
export const newTask = (grouped: boolean) =>
  record(
    {
      id: maybe(id, 3),
      payload,
      headers: maybe(constant({ from: "edge" }), 4),
      delay: maybe(oneOf(1, 700), 12),
      lease: maybe(leaseTime, 5),
      maxAttempts: maybe(oneOf(0, 1, 2, 3), 3),
      resultTtl: maybe(oneOf(0, 1_000, 400_000), 4),
      deadTtl: maybe(oneOf(0, 1_000, 400_000), 4),
      ...(grouped && { group: maybe(group, 12) }),
    },
    { requiredKeys: ["payload"] },
  );

export const pull = record({
  token: nat(2 ** 30).map((n) => `token-${n.toString(36).padStart(6, "0")}`),
  max: oneOf(1, 1, 2, 3, 5, 20, 200),
  lease: option(leaseTime, { nil: 3_000, freq: 3 }),
  single: maybe(constant(true), 6),
  worker: maybe(worker, 2),
  flagged: boolean(),
  readyOnly: maybe(constant(true), 3),
}) as Arbitrary<Pull>;

/** How long a pause lasts, ms. */
export const pauseTime = maybe(oneOf(1, 1_000, 2_000, 61_000), 1);

export const settlement = record({
  receipt: nat(),
  outcome: oneOf("complete", "reject", "requeue", "requeue", "unstarted", "extend"),
  ms: maybe(oneOf(0, 1, 500, 2_000, 400_000), 1),
  count: maybe(constant(false), 3),
  queue: maybe(constant(true), 6),
  text: maybe(oneOf<unknown>(0, "", null, { why: "not yet" }), 2),
});
export type DrawnSettlement = typeof settlement extends Arbitrary<infer T> ? T : never;

/** The settlement, with the fields that its outcome allows. */
export function settlementOf(
  { outcome, ms, count, queue, text }: DrawnSettlement,
  receipt: string,
): OperationSettlement {
  if (outcome === "unstarted") return { receipt, outcome };
  if (outcome === "requeue") return { receipt, outcome, ms: ms ?? 0, count, queue, text };
  // A lease of 0 ms is left out.
  return { receipt, outcome, ms: outcome === "extend" ? ms || undefined : ms, text };
}

export const filter = (grouped: boolean) =>
  record(
    {
      ...(grouped && { group: maybe(group, 2) }),
      reason: maybe(oneOf("rejected", "attempts_exhausted", "lease_expired", "taken_back", "cancelled"), 4),
    },
    { requiredKeys: [] },
  );

export const scheduleName = oneOf("s1", "s2", "s3");

/** A schedule; its instants lie around the time of the call. */
export const schedule = record(
  {
    every: oneOf(60_000, 90_000, 1_000_000, 5_000),
    from: maybe(oneOf(-100_000, 0, 1, 30_000)),
    until: maybe(oneOf(-1, 0, 40_000, 400_000), 3),
    missed: oneOf("last", "all"),
    paused: maybe(boolean(), 3),
    payload,
    maxAttempts: maybe(oneOf(1, 5), 2),
  },
  { requiredKeys: ["every", "missed", "payload"] },
).map(({ from, until, missed, ...rest }) => (now: number): ModelNewSchedule => ({
  ...rest,
  // Of thousands of occurrences in an hour the last is enough.
  missed: rest.every < 60_000 ? "last" : missed,
  ...(from !== undefined && { from: now + from }),
  ...(until !== undefined && { until: now + until }),
}));
