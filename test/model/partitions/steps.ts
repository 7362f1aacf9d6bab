/** The random steps of a run. */
import {
  boolean,
  constant,
  integer,
  nat,
  noShrink,
  oneof,
  option,
  tuple,
  type Arbitrary,
  type AsyncCommand,
} from "fast-check";
import type { OperationSettlement } from "../operations.ts";
import type { Meanwhile, Mishap, NewModelTask, PartitionedOperation } from "./operations.ts";
import { INSTANCES, type RealPartitions } from "./real.ts";
import type { PartitionsState } from "./state.ts";
import type { PartitionsWorld } from "./world.ts";

type Step = AsyncCommand<PartitionsWorld, RealPartitions>;

/** Makes an operation from the state of the run; undefined if it does not apply. */
type Choose = (state: PartitionsState, by: number) => PartitionedOperation | undefined;

class CallStep implements Step {
  readonly #choose: Choose;
  readonly #by: number;
  readonly #mishap: Mishap;
  readonly #nth: number;
  readonly #meanwhile: Meanwhile | undefined;
  #made: string;

  constructor(by: number, [mishap, nth]: readonly [Mishap, number], choose: Choose, meanwhile?: Meanwhile) {
    this.#choose = choose;
    this.#by = by;
    this.#mishap = mishap;
    this.#nth = nth;
    this.#meanwhile = meanwhile;
    this.#made = "unused";
  }

  check(): boolean {
    return true;
  }

  async run(world: PartitionsWorld, real: RealPartitions): Promise<void> {
    const operation = this.#choose(world.state, this.#by);
    if (!operation) return;
    const [by, mishap, nth, meanwhile] = [this.#by, this.#mishap, this.#nth, this.#meanwhile];
    this.#made = `${JSON.stringify({ at: world.state.now, by, mishap, nth, ...operation, meanwhile })}\n`;
    await world.call(real, { operation, by, mishap, nth, meanwhile });
  }

  toString(): string {
    return this.#made;
  }
}

class PassingTime implements Step {
  readonly #ms: number;

  constructor(ms: number) {
    this.#ms = ms;
  }

  check(): boolean {
    return true;
  }

  async run(world: PartitionsWorld, real: RealPartitions): Promise<void> {
    world.pass(real, this.#ms);
  }

  toString(): string {
    return `${this.#ms} ms pass\n`;
  }
}

class Renewal implements Step {
  readonly #by: number;

  constructor(by: number) {
    this.#by = by;
  }

  check(): boolean {
    return true;
  }

  async run(_: PartitionsWorld, real: RealPartitions): Promise<void> {
    real.renew(this.#by);
  }

  toString(): string {
    return `instance ${this.#by} is new\n`;
  }
}

const pick = <T>(values: readonly T[], n: number): T | undefined => values[n % Math.max(1, values.length)];
const oneOf = <T>(...values: T[]): Arbitrary<T> => oneof(...values.map((value) => constant(value)));

const by = nat(INSTANCES - 1);
const mishap = tuple(
  oneof(
    { weight: 8, arbitrary: constant<Mishap>("none") },
    { weight: 3, arbitrary: oneOf<Mishap>("reply lost", "delivered twice", "scripts forgotten") },
  ),
  integer({ min: 1, max: 4 }),
);
const perhaps = <T>(arbitrary: Arbitrary<T>, freq = 3) => option(arbitrary, { nil: undefined, freq });
const meanwhile = perhaps(
  tuple(nat(7), integer({ min: 1, max: 8 }), perhaps(nat(6))).map(
    ([request, count, stopAfter]): Meanwhile => ({ request, count, stopAfter }),
  ),
  1,
);

const GROUPS = ["g0", "g1", "g2"];
const IDS = ["a", "b", "c", "d", "e", "f", "h", "i"];
const KEYS = ["k0", "k1", "k2", "k3"];

/** A task whose id and dedup key are in one slot. */
const newTask: Arbitrary<NewModelTask> = tuple(
  nat(10),
  nat(7),
  nat(1_000_000),
  perhaps(oneOf(1_000, 30_000, 100_000, 1_200_000), 4),
  perhaps(oneOf(2_000, 20_000, 400_000), 4),
  perhaps(oneOf(1, 2), 5),
  oneOf(60_000, 600_000, 3_600_000),
).map(([kind, n, payload, delay, lease, maxAttempts, ms]) => {
  const task = { payload, delay, lease, maxAttempts };
  const [id, group, key] = [pick(IDS, n), pick(GROUPS, n), pick(KEYS, n)] as [string, string, string];
  if (kind < 2) return task;
  if (kind < 4) return { ...task, id };
  if (kind === 4) return { ...task, id, again: true };
  if (kind === 5) return { ...task, id, unique: ms };
  if (kind === 6) return { ...task, group };
  if (kind === 7) return { ...task, id: `${pick(IDS, n + 1)}{${group}}`, group };
  if (kind === 10) return { ...task, id, group };
  if (kind === 8) return { ...task, dedup: { key, window: ms } };
  return { ...task, id: `${pick(IDS, n + 2)}{${key}}`, dedup: { key, window: ms } };
});
const newTasks = oneof(
  { weight: 3, arbitrary: newTask.map((task) => [task]) },
  { weight: 2, arbitrary: tuple(newTask, newTask, newTask) },
  { weight: 1, arbitrary: tuple(newTask, newTask, newTask, newTask, newTask, newTask, newTask) },
);

const pull = tuple(integer({ min: 1, max: 20 }), perhaps(oneOf(3_000, 60_000)), boolean());
/** Each is used once. */
const token = noShrink(integer({ min: 1, max: 2 ** 40 })).map((n) => `token-${n}`);

/** Half of the receipts are the latest ones. */
function receiptOf(state: PartitionsState, n: number): string | undefined {
  const receipts = n % 3 > 0 ? state.receipts.slice(-8) : state.receipts;
  return pick(receipts, Math.floor(n / 3));
}

const settlement = tuple(
  nat(10_000),
  oneOf<OperationSettlement["outcome"]>(
    "complete",
    "complete",
    "reject",
    "requeue",
    "requeue",
    "unstarted",
    "extend",
  ),
  perhaps(oneOf(0, 5_000, 70_000, 700_000), 1),
  boolean(),
);
type DrawnSettlement = readonly [number, OperationSettlement["outcome"], number | undefined, boolean];

function settlementsOf(state: PartitionsState, drawn: readonly DrawnSettlement[]): OperationSettlement[] {
  const items = drawn.flatMap(([n, outcome, ms, count]): OperationSettlement[] => {
    const receipt = receiptOf(state, n);
    if (receipt === undefined) return [];
    if (outcome === "unstarted") return [{ receipt, outcome }];
    if (outcome === "extend") return [{ receipt, outcome, ms: ms === 0 ? undefined : ms }];
    return [{ receipt, outcome, ms, count }];
  });
  return items.filter(({ receipt }, i) => items.findIndex((item) => item.receipt === receipt) === i);
}

const idOf = (state: PartitionsState, n: number) => pick([...state.tasks.keys(), ...IDS], n) as string;

const withMishap = (choose: Arbitrary<Choose>) =>
  tuple(by, mishap, choose).map(([one, what, chosen]) => new CallStep(one, what, chosen));

const enqueues = tuple(by, mishap, newTasks, perhaps(nat(1), 2), meanwhile).map(
  ([one, what, tasks, keyed, during]) => {
    const choose: Choose = (state) => {
      if (keyed === undefined) return { does: "enqueue", tasks };
      return { does: "enqueue", tasks, key: `key-${state.keyed.length}-${state.step}` };
    };
    return new CallStep(one, what, choose, during);
  },
);
const resends = tuple(by, mishap, nat(1_000)).map(
  ([one, what, n]) =>
    new CallStep(one, what, (state) => {
      const call = pick(state.keyed, n);
      if (!call) return undefined;
      return { does: "enqueue", tasks: call.tasks, key: call.key };
    }),
);
const resizes = tuple(mishap, integer({ min: 1, max: 8 }), perhaps(nat(6), 1), meanwhile).map(
  ([what, count, stopAfter, during]) =>
    new CallStep(0, what, () => ({ does: "resize", count, stopAfter }), during),
);

/** A step of a run. */
export const steps: Arbitrary<Step> = oneof(
  { weight: 14, arbitrary: enqueues },
  { weight: 4, arbitrary: resends },
  {
    weight: 14,
    arbitrary: tuple(by, mishap, pull, meanwhile, token).map(
      ([one, what, [max, lease, isCallers], during, given]) => {
        const own = { max, lease, token: isCallers ? given : undefined };
        return new CallStep(one, what, () => ({ does: "dequeue", pull: own }), during);
      },
    ),
  },
  {
    weight: 4,
    arbitrary: tuple(nat(2), mishap, pull, nat(2), token).map(([one, what, [max, lease], other, given]) => {
      const own = { max, lease, token: given };
      return new CallStep(one, what, () => ({ does: "dequeueTwice", pull: own, other }));
    }),
  },
  {
    weight: 12,
    arbitrary: tuple(by, mishap, tuple(settlement, settlement, settlement), perhaps(pull, 2)).map(
      ([one, what, drawn, next]) =>
        new CallStep(one, what, (state) => {
          const items = settlementsOf(state, drawn);
          if (items.length === 0) return undefined;
          return { does: "settle", items, pull: next && { max: next[0], lease: next[1] } };
        }),
    ),
  },
  {
    weight: 4,
    arbitrary: withMishap(nat(1_000).map((n) => (state) => ({ does: "cancel", id: idOf(state, n) }))),
  },
  {
    weight: 4,
    arbitrary: withMishap(nat(1_000).map((n) => (state) => ({ does: "get", id: idOf(state, n) }))),
  },
  { weight: 2, arbitrary: withMishap(constant(() => ({ does: "counts" }))) },
  { weight: 4, arbitrary: withMishap(boolean().map((lone) => () => ({ does: "sweep", lone }))) },
  { weight: 5, arbitrary: resizes },
  { weight: 3, arbitrary: by.map((one) => new Renewal(one)) },
  {
    weight: 10,
    arbitrary: oneOf(500, 2_000, 20_000, 62_000, 130_000, 310_000, 1_300_000, 4_000_000).map(
      (ms) => new PassingTime(ms),
    ),
  },
);
