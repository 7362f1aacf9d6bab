/** The random steps of a run. */
import { array, boolean, constant, integer, nat, noShrink, oneof, tuple, type Arbitrary } from "fast-check";
import { maybe, oneOf, settlement, settlementOf, type DrawnSettlement } from "../arbitraries.ts";
import type { Mishap, OperationSettlement } from "../operations.ts";
import { Step } from "../step.ts";
import type { Meanwhile, NewModelTask, PartitionedOperation } from "./operations.ts";
import { INSTANCES, type RealPartitions } from "./real.ts";
import type { PartitionsState } from "./state.ts";
import type { PartitionsWorld } from "./world.ts";

const pick = <T>(values: readonly T[], n: number): T | undefined => values[n % Math.max(1, values.length)];

const mishap = tuple(
  oneof(
    { weight: 8, arbitrary: constant<Mishap>("none") },
    { weight: 3, arbitrary: oneOf<Mishap>("reply lost", "delivered twice", "scripts forgotten") },
  ),
  integer({ min: 1, max: 4 }),
);
const nothing = constant(undefined);
/** In a third of the calls the partitions change in their midst. */
const change = maybe(
  tuple(nat(7), integer({ min: 1, max: 8 }), maybe(nat(6))).map(([request, count, stopAfter]): Meanwhile => ({
    request,
    count,
    stopAfter,
  })),
  2,
);

/**
 * A call of some kind, and how often it is to be drawn.
 * @param choose makes it from the current state of the run; undefined if it does not apply
 * @param during what happens in its midst
 */
function step<T>(
  weight: number,
  drawn: Arbitrary<T>,
  choose: (drawn: T, state: PartitionsState) => PartitionedOperation | undefined,
  during: Arbitrary<Meanwhile | undefined> = nothing,
) {
  const arbitrary = tuple(nat(INSTANCES - 1), mishap, drawn, during).map(
    ([by, [befalls, nth], value, meanwhile]) =>
      new Step<PartitionsWorld, RealPartitions>(async (world, real, note) => {
        const operation = choose(value, world.state);
        if (!operation) return;
        const call = { operation, by, mishap: befalls, nth, meanwhile };
        note(`${JSON.stringify({ at: world.state.now, ...call })}\n`);
        await world.call(real, call);
      }),
  );
  return { weight, arbitrary };
}

const GROUPS = ["g0", "g1", "g2"];
const IDS = ["a", "b", "c", "d", "e", "f", "h", "i"];
const KEYS = ["k0", "k1", "k2", "k3"];

/** A task whose id and dedup key are in one slot; of a group in strict order, in that of the group. */
const newTask = (isOrdered: boolean): Arbitrary<NewModelTask> =>
  tuple(
    nat(10),
    nat(7),
    nat(1_000_000),
    maybe(oneOf(1_000, 30_000, 100_000, 1_200_000), 2),
    maybe(oneOf(2_000, 20_000, 400_000), 2),
    maybe(oneOf(1, 2), 3),
    oneOf(60_000, 600_000, 3_600_000),
  ).map(([kind, n, payload, delay, lease, maxAttempts, ms]) => {
    const task = { payload, delay, lease, maxAttempts };
    const [id, group, key] = [pick(IDS, n), pick(GROUPS, n), pick(KEYS, n)] as [string, string, string];
    if (isOrdered && kind % 2 === 0) return { ...task, group };
    if (isOrdered && kind === 1) return { ...task, dedup: { key: `${key}{${group}}`, window: ms }, group };
    if (kind < 2) return task;
    if (kind < 4) return { ...task, id };
    if (kind === 4) return { ...task, id, again: true };
    if (kind === 5) return { ...task, id, unique: ms };
    if (kind === 6) return { ...task, group };
    if (kind === 7) return { ...task, id: `${pick(IDS, n + 1)}{${group}}`, group };
    if (kind === 10) return { ...task, id, group };
    // Tasks of several groups may have the same key.
    if (kind === 8) return { ...task, dedup: { key, window: ms }, ...(payload % 2 && { group }) };
    return { ...task, id: `${pick(IDS, n + 2)}{${key}}`, dedup: { key, window: ms } };
  });
const newTasks = (isOrdered: boolean) => {
  const one = newTask(isOrdered);
  return oneof(
    { weight: 3, arbitrary: one.map((task) => [task]) },
    { weight: 2, arbitrary: tuple(one, one, one) },
    { weight: 1, arbitrary: tuple(one, one, one, one, one, one, one) },
  );
};

const pull = tuple(integer({ min: 1, max: 20 }), maybe(oneOf(3_000, 60_000))).map(([max, lease]) => ({
  max,
  lease,
}));
/** Each is used once. */
const token = noShrink(integer({ min: 1, max: 2 ** 40 })).map((n) => `token-${n}`);

/**
 * Of receipts of different leases; two thirds of them are of the latest ones. None pauses the queue: this model knows no
 * pauses.
 */
function settlementsOf(state: PartitionsState, drawn: readonly DrawnSettlement[]): OperationSettlement[] {
  const items = drawn.flatMap((one) => {
    const receipts = one.receipt % 3 > 0 ? state.receipts.slice(-8) : state.receipts;
    const receipt = pick(receipts, Math.floor(one.receipt / 3));
    return receipt === undefined ? [] : [settlementOf({ ...one, queue: undefined }, receipt)];
  });
  return items.filter(({ receipt }, i) => items.findIndex((item) => item.receipt === receipt) === i);
}

const idOf = (state: PartitionsState, n: number) => pick([...state.tasks.keys(), ...IDS], n) as string;

/** A step that is no call. */
const other = <T>(
  weight: number,
  drawn: Arbitrary<T>,
  act: (drawn: T, note: (did: string) => void, world: PartitionsWorld, real: RealPartitions) => void,
) => ({
  weight,
  arbitrary: drawn.map(
    (value) =>
      new Step<PartitionsWorld, RealPartitions>(async (world, real, note) => act(value, note, world, real)),
  ),
});

/** The steps of a run. */
export const steps = (isOrdered: boolean) =>
  oneof(
    step(
      14,
      tuple(newTasks(isOrdered), boolean()),
      ([tasks, isKeyed], { keyed, step: at }) => ({
        does: "enqueue",
        tasks,
        ...(isKeyed && { key: `key-${keyed.length}-${at}` }),
      }),
      change,
    ),
    step(4, nat(1_000), (n, { keyed }) => {
      const call = pick(keyed, n);
      return call && { does: "enqueue", tasks: call.tasks, key: call.key };
    }),
    step(
      14,
      tuple(pull, maybe(token)),
      ([own, given]) => ({ does: "dequeue", pull: { ...own, token: given } }),
      change,
    ),
    step(4, tuple(pull, token, nat(INSTANCES - 1)), ([own, given, other]) => ({
      does: "dequeueTwice",
      pull: { ...own, token: given },
      other,
    })),
    step(
      12,
      tuple(array(settlement, { minLength: 3, maxLength: 3 }), maybe(pull)),
      ([drawn, next], state) => {
        const items = settlementsOf(state, drawn);
        return items.length > 0 ? { does: "settle", items, pull: next } : undefined;
      },
    ),
    step(4, nat(1_000), (n, state) => ({ does: "cancel", id: idOf(state, n) })),
    step(4, nat(1_000), (n, state) => ({ does: "get", id: idOf(state, n) })),
    step(2, nothing, () => ({ does: "counts" })),
    step(4, boolean(), (lone) => ({ does: "sweep", lone })),
    step(
      5,
      tuple(integer({ min: 1, max: 8 }), maybe(nat(6))),
      ([count, stopAfter]) => ({ does: "resize", count, stopAfter }),
      change,
    ),
    other(3, nat(INSTANCES - 1), (by, note, _, real) => {
      note(`instance ${by} is new\n`);
      real.renew(by);
    }),
    other(
      10,
      oneOf(500, 2_000, 20_000, 62_000, 130_000, 310_000, 1_300_000, 4_000_000),
      (ms, note, world, real) => {
        note(`${ms} ms pass\n`);
        world.pass(real, ms);
      },
    ),
  );
