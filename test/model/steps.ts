/** Steps of a run, by fast-check: what a call is made of is chosen beforehand, what it refers to when its turn comes. */
import fc from "fast-check";
import { INVALID_PATHS } from "./invalid.ts";
import type { Mishap, Operation, OperationSettlement, OperationWorker, Pull } from "./operations.ts";
import type { Real } from "./real.ts";
import type { World } from "./world.ts";

/** What a step makes of where the run stands; nothing where it does not apply. */
type Choose = (world: World) => Operation | undefined;

export class Step implements fc.AsyncCommand<World, Real> {
  readonly #choose: Choose;
  readonly #by: number;
  readonly #mishap: Mishap;
  #made: string;

  constructor(name: string, by: number, mishap: Mishap, choose: Choose) {
    this.#choose = choose;
    this.#by = by;
    this.#mishap = mishap;
    this.#made = name;
  }

  check(): boolean {
    return true;
  }

  async run(world: World, real: Real): Promise<void> {
    const operation = this.#choose(world);
    if (!operation) return;
    world.calls.push(operation);
    this.#made = `${this.#mishap === "none" ? "" : `(${this.#mishap}) `}${JSON.stringify(operation)} by ${this.#by} at ${world.now}`;
    await world.call(real, operation, this.#by, this.#mishap);
  }

  toString(): string {
    return this.#made;
  }
}

/** Time passes, or, now and then, jumps back. */
class Wait implements fc.AsyncCommand<World, Real> {
  readonly #ms: number;

  constructor(ms: number) {
    this.#ms = ms;
  }

  check(): boolean {
    return true;
  }

  async run(world: World): Promise<void> {
    world.now += this.#ms;
  }

  toString(): string {
    return `wait ${this.#ms}`;
  }
}

const oneOf = <const T>(...values: readonly T[]) => fc.constantFrom(...values);
/** A plain object, as callers write it. */
function record<T extends object, K extends keyof T = keyof T>(
  model: { [name in keyof T]: fc.Arbitrary<T[name]> },
  { requiredKeys }: { requiredKeys?: K[] } = {},
) {
  return fc.record(model, { ...(requiredKeys && { requiredKeys }), noNullPrototype: true } as {
    requiredKeys: K[];
  });
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>, freq = 2) => fc.option(arbitrary, { nil: undefined, freq });

const id = fc.nat(11).map((i) => `t${i}`);
const payload = oneOf<unknown>(0, "", null, [], { to: "a@example.com" }, "42", new Uint8Array([0, 255]));
const worker: fc.Arbitrary<OperationWorker> = record({
  name: oneOf("w1", "w2"),
  incarnation: maybe(oneOf("x", "y")),
  silentAfter: maybe(oneOf(800, 3_000), 1),
});
const leaseTime = oneOf(1_000, 2_000, 5_000);
const group = oneOf("a", "b", "c");

/** A task with a small choice of everything; of groups and priorities only where they are in use. */
const task = (shared: boolean) =>
  fc
    .record(
      {
        id,
        payload,
        headers: maybe(fc.constant({ from: "edge" }), 4),
        delay: maybe(oneOf(1, 700, 3_000), 3),
        lease: maybe(leaseTime, 5),
        maxAttempts: maybe(oneOf(0, 1, 2, 3), 1),
        resultTtl: maybe(oneOf(0, 1_000, 400_000), 4),
        deadTtl: maybe(oneOf(0, 1_000, 400_000), 4),
        ...(shared && { group: maybe(group, 1), priority: maybe(oneOf(0, 1, 9), 4) }),
        unique: oneOf("", "", "", "again", "k1", "k2"),
      },
      { requiredKeys: ["id", "payload", "unique"] },
    )
    .map(({ unique, ...rest }) => ({
      ...rest,
      ...(unique === "again" && { again: true }),
      ...(unique.startsWith("k") && { dedup: { key: unique, window: 2_000 } }),
    }));

const pull = record({
  token: fc.nat(2 ** 30).map((n) => `token-${n.toString(36).padStart(6, "0")}`),
  max: oneOf(1, 1, 2, 3, 5, 20, 200),
  lease: fc.option(leaseTime, { nil: 3_000, freq: 3 }),
  single: maybe(fc.constant(true), 6),
  worker: maybe(worker, 2),
  flagged: fc.boolean(),
}) as fc.Arbitrary<Pull>;

const settlement = record({
  receipt: fc.nat(),
  outcome: oneOf("complete", "reject", "requeue", "requeue", "return", "extend"),
  ms: maybe(oneOf(0, 1, 500, 2_000, 400_000), 1),
  count: maybe(fc.constant(false), 3),
  text: maybe(oneOf<unknown>(0, "", null, { why: "not yet" }), 2),
});
type DrawnSettlement = typeof settlement extends fc.Arbitrary<infer T> ? T : never;

/** What each outcome may say. */
function settlementOf({ outcome, ms, count, text }: DrawnSettlement, receipt: string): OperationSettlement {
  switch (outcome) {
    case "complete":
    case "reject":
      return { receipt, outcome, ms, text };
    case "requeue":
      return { receipt, outcome, ms: ms ?? 0, count, text };
    case "return":
      return { receipt, outcome };
    case "extend":
      return { receipt, outcome, ms: ms === 0 ? undefined : ms, text };
  }
}

const filter = (shared: boolean) =>
  record(
    {
      ...(shared && { group: maybe(group, 2) }),
      reason: maybe(oneOf("rejected", "attempts_exhausted", "lease_expired", "cancelled"), 4),
    },
    { requiredKeys: [] },
  );

const mishap: fc.Arbitrary<Mishap> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Mishap>("none") },
  { weight: 1, arbitrary: oneOf<Mishap>("reply lost", "delivered twice") },
  { weight: 1, arbitrary: fc.constant<Mishap>("scripts forgotten") },
);

/** The receipt that a number means, the later ones more often. */
const receiptAt = ({ receipts }: World, n: number) => receipts.at(-1 - (n % Math.max(1, receipts.length)));

/** All steps of a run. `shared`: with groups and priorities; `waker`: consumers are woken. */
export function allSteps({ shared, waker }: { shared: boolean; waker: boolean }) {
  const step = <T>(
    weight: number,
    name: string,
    drawn: fc.Arbitrary<T>,
    choose: (drawn: T, world: World) => Operation | undefined,
  ) => ({
    weight,
    arbitrary: fc
      .tuple(drawn, fc.nat(2), mishap)
      .map(([value, by, befalls]) => new Step(name, by, befalls, (world) => choose(value, world))),
  });
  const knownLease = (world: World, named: string, which: number) =>
    which === 0 ? undefined : which === 1 ? (world.queue.tasks.get(named)?.lease ?? 0) : 99;
  const settleItems = fc.array(settlement, { minLength: 1, maxLength: 4 });
  const items = (drawn: readonly DrawnSettlement[], world: World) =>
    drawn.flatMap((one) => {
      const receipt = receiptAt(world, one.receipt);
      return receipt === undefined ? [] : [settlementOf(one, receipt)];
    });
  const rate = fc.option(record({ max: oneOf(1, 3, 6), per: oneOf(100, 1_000, 3_000) }), { nil: null });
  const most = fc.option(oneOf(1, 2, 4), { nil: null });

  return fc.oneof(
    {
      weight: 14,
      arbitrary: oneOf(1, 50, 300, 1_000, 1_000, 3_000, 10_000, 61_000, 310_000, 3_700_000, -700).map(
        (ms) => new Wait(ms),
      ),
    },
    step(20, "enqueue", fc.array(task(shared), { minLength: 1, maxLength: 4 }), (tasks, world) => ({
      does: "enqueue",
      key: world.newKey(),
      tasks,
      waker,
    })),
    step(20, "dequeue", pull, (drawn) => ({ does: "dequeue", ...drawn })),
    step(16, "settle", settleItems, (drawn, world) => {
      const settlements = items(drawn, world);
      return settlements.length > 0 ? { does: "settle", items: settlements } : undefined;
    }),
    step(4, "settle and dequeue", fc.tuple(settleItems, pull), ([drawn, next], world) => {
      const settlements = items(drawn, world);
      return settlements.length > 0 ? { does: "settle", items: settlements, pull: next } : undefined;
    }),
    step(5, "cancel", fc.tuple(id, fc.nat(2)), ([named, which], world) => ({
      does: "cancel",
      id: named,
      lease: knownLease(world, named, which),
    })),
    step(3, "remove", id, (named) => ({ does: "remove", id: named })),
    step(4, "get", id, (named) => ({ does: "get", id: named })),
    step(
      3,
      "redrive",
      fc.tuple(filter(shared), fc.boolean(), maybe(oneOf(0.5, 3), 2)),
      ([meant, dryRun, each]) => ({
        does: "redrive",
        ...meant,
        dryRun,
        rate: each,
      }),
    ),
    step(
      3,
      "redrive ids",
      fc.array(fc.tuple(id, fc.nat(2)), { minLength: 1, maxLength: 4 }),
      (drawn, world) => ({
        does: "redriveIds",
        ids: drawn.map(([named, which]) => ({ id: named, lease: knownLease(world, named, which) })),
      }),
    ),
    step(
      2,
      "purge",
      fc.tuple(oneOf("pending", "delayed", "completed", "rejected"), filter(shared), maybe(oneOf(1, 3), 1)),
      ([state, meant, limit]) => {
        const grouped = "group" in meant && meant.group !== undefined ? { group: meant.group } : {};
        if (state === "pending")
          return { does: "purge", state, ...grouped, limit: shared ? undefined : limit };
        return { does: "purge", state, ...(state === "rejected" ? meant : grouped), limit };
      },
    ),
    step(8, "sweep", fc.tuple(oneOf(1, 2, 1_000), fc.boolean()), ([limit, once]) => ({
      does: "sweep",
      limit,
      waker: waker && !once,
      once,
    })),
    step(2, "heartbeat", fc.tuple(worker, maybe(leaseTime)), ([who, lease]) => ({
      does: "heartbeat",
      worker: who,
      lease,
    })),
    step(
      2,
      "fail",
      fc.tuple(worker, fc.boolean(), oneOf(1, 1_000)),
      ([{ silentAfter: _, ...who }, byName, limit]) => ({
        does: "fail",
        worker: byName ? who.name : who,
        limit,
      }),
    ),
    step(
      2,
      "configure",
      record(
        {
          maxWorking: most,
          rate,
          maxPending: fc.option(oneOf(3, 8), { nil: null }),
          statistics: fc.boolean(),
          events: fc.boolean(),
        },
        { requiredKeys: ["statistics"] },
      ),
      (changes, world) => ({
        does: "configure",
        key: world.newKey(),
        changes,
      }),
    ),
    step(2, "pause or resume", oneOf("pause", "resume", "resume"), (does, world) => ({
      does,
      key: world.newKey(),
    })),
    step(
      shared ? 3 : 0,
      "configure group",
      fc.tuple(group, record({ weight: oneOf(1, 4), maxWorking: most, rate }, { requiredKeys: ["weight"] })),
      ([name, changes], world) => ({
        does: "configureGroup",
        key: world.newKey(),
        group: name,
        changes,
      }),
    ),
    step(1, "drop", fc.boolean(), (force, world) => ({ does: "drop", key: world.newKey(), force })),
    step(waker ? 2 : 0, "wake another", fc.constant(0), () => ({ does: "wakeAnother" })),
    step(5, "look", oneOf("counts", "workers", "statistics", "settings", "deepSweep"), (does) => ({ does })),
    step(
      4,
      "list",
      fc.tuple(
        oneOf("pending", "delayed", "working", "completed", "rejected"),
        oneOf(1, 3, 100),
        filter(shared),
      ),
      ([state, size, meant]) => ({
        does: "list",
        state,
        size,
        ...(state === "rejected" ? meant : {}),
      }),
    ),
    step(3, "invalid", fc.nat(INVALID_PATHS.length - 1), (which) => ({ does: "invalid", which })),
    step(8, "again", fc.tuple(fc.nat(), fc.boolean()), ([back, flagged], { calls }) => {
      const call = calls.at(-1 - (back % Math.max(1, Math.min(calls.length, 12))));
      return call?.does === "dequeue" ? { ...call, flagged } : call;
    }),
  );
}
