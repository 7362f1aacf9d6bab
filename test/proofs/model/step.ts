/** Steps of a run: calls, or time that passes. */
import { constant, nat, oneof, tuple, type Arbitrary, type AsyncCommand } from "fast-check";
import { oneOf } from "./arbitraries.ts";
import type { Mishap, Of, Operation } from "./operations.ts";
import type { Real } from "./real.ts";
import { noteSetBack } from "./delivery-order.ts";
import type { World } from "./world.ts";

/** Does something to a model and to the real queue, and prints what it did. */
export class Step<W extends object, R> implements AsyncCommand<W, R> {
  readonly #act: (world: W, real: R, note: (did: string) => void) => Promise<unknown>;
  #did = "nothing";

  /** @param act calls `note` with what it does */
  constructor(act: (world: W, real: R, note: (did: string) => void) => Promise<unknown>) {
    this.#act = act;
  }

  check(): boolean {
    return true;
  }

  async run(world: W, real: R): Promise<void> {
    await this.#act(world, real, (did) => (this.#did = did));
  }

  toString(): string {
    return this.#did;
  }
}

const mishap: Arbitrary<Mishap> = oneof(
  { weight: 24, arbitrary: constant<Mishap>("none") },
  { weight: 2, arbitrary: oneOf<Mishap>("reply lost", "delivered twice") },
  { weight: 1, arbitrary: constant<Mishap>("scripts forgotten") },
);

/**
 * A call of some kind, and how often it is to be drawn.
 * @param choose makes it from the current state of the run; undefined if it does not apply
 * @param where the queue that it is made on. @default that of the run
 */
export function step<T>(
  weight: number,
  drawn: Arbitrary<T>,
  choose: (drawn: T, world: World) => Operation | undefined,
  where: (world: World) => World = (world) => world,
) {
  const arbitrary = tuple(drawn, nat(2), mishap).map(
    ([value, by, befalls]) =>
      new Step<World, Real>(async (world, real, note) => {
        const operation = choose(value, world);
        if (!operation) return;
        const at = where(world);
        at.now = world.now;
        at.calls.push(operation);
        note(
          `${at === world ? "" : `on ${at.name}: `}${befalls === "none" ? "" : `(${befalls}) `}${JSON.stringify(operation)} by ${by} at ${world.now}`,
        );
        await at.call(real, operation, by, befalls);
      }),
  );
  return { weight, arbitrary };
}

/** A call of that kind, with what is drawn. */
export const asDrawn = <D extends Operation["does"]>(
  weight: number,
  does: D,
  drawn: Arbitrary<Omit<Of<D>, "does">>,
) => step(weight, drawn, (given) => ({ does, ...given }) as unknown as Operation);

/** The same, with an idempotency key of its own. */
export const withKey = <D extends Operation["does"]>(
  weight: number,
  does: D,
  drawn: Arbitrary<Omit<Of<D>, "does" | "key">>,
) => step(weight, drawn, (given, world) => ({ does, key: world.newKey(), ...given }) as unknown as Operation);

/**
 * Several calls in a row that lead to a state that single random calls seldom reach, and how often they are to be
 * drawn.
 */
export function passage<T>(
  weight: number,
  drawn: Arbitrary<T>,
  make: (drawn: T, world: World) => readonly Operation[],
) {
  const arbitrary = tuple(drawn, nat(2)).map(
    ([value, by]) =>
      new Step<World, Real>(async (world, real, note) => {
        const operations = make(value, world);
        note(`${JSON.stringify(operations)} by ${by} and others at ${world.now}`);
        for (const [i, operation] of operations.entries()) {
          world.calls.push(operation);
          await world.call(real, operation, by + i, "none");
        }
      }),
  );
  return { weight, arbitrary };
}

/** Time that passes, or, now and then, jumps back. */
export const wait = (weight: number, ...times: number[]) => ({
  weight,
  arbitrary: oneOf(...times).map(
    (ms) =>
      new Step<World, Real>(async (world, _, note) => {
        note(`wait ${ms}`);
        world.now += ms;
        if (ms < 0) noteSetBack(world.queue, world.now);
      }),
  ),
});
