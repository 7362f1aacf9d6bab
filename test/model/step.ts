/** One step of a run: a call, or time that passes. */
import { constant, nat, oneof, tuple, type Arbitrary, type AsyncCommand } from "fast-check";
import { oneOf } from "./arbitraries.ts";
import type { Mishap, Operation } from "./operations.ts";
import type { Real } from "./real.ts";
import { noteSetBack } from "./delivery-order.ts";
import type { World } from "./world.ts";

/** Makes a step from the current state of the run; undefined if it does not apply. */
type Choose = (world: World) => Operation | undefined;

class Step implements AsyncCommand<World, Real> {
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

/** Several calls in a row that lead to a state that single random calls seldom reach. */
class Passage implements AsyncCommand<World, Real> {
  readonly #make: (world: World) => readonly Operation[];
  readonly #by: number;
  #made: string;

  constructor(name: string, by: number, make: (world: World) => readonly Operation[]) {
    this.#make = make;
    this.#by = by;
    this.#made = name;
  }

  check(): boolean {
    return true;
  }

  async run(world: World, real: Real): Promise<void> {
    const operations = this.#make(world);
    this.#made = `${JSON.stringify(operations)} by ${this.#by} and others at ${world.now}`;
    for (const [i, operation] of operations.entries()) {
      world.calls.push(operation);
      await world.call(real, operation, this.#by + i, "none");
    }
  }

  toString(): string {
    return this.#made;
  }
}

/** Time passes, or, now and then, jumps back. */
class Wait implements AsyncCommand<World, Real> {
  readonly #ms: number;

  constructor(ms: number) {
    this.#ms = ms;
  }

  check(): boolean {
    return true;
  }

  async run(world: World): Promise<void> {
    world.now += this.#ms;
    if (this.#ms < 0) noteSetBack(world.queue, world.now);
  }

  toString(): string {
    return `wait ${this.#ms}`;
  }
}

const mishap: Arbitrary<Mishap> = oneof(
  { weight: 24, arbitrary: constant<Mishap>("none") },
  { weight: 2, arbitrary: oneOf<Mishap>("reply lost", "delivered twice") },
  { weight: 1, arbitrary: constant<Mishap>("scripts forgotten") },
);

/** A call of some kind, and how often it is to be drawn. */
export function step<T>(
  weight: number,
  name: string,
  drawn: Arbitrary<T>,
  choose: (drawn: T, world: World) => Operation | undefined,
) {
  return {
    weight,
    arbitrary: tuple(drawn, nat(2), mishap).map(
      ([value, by, befalls]) => new Step(name, by, befalls, (world) => choose(value, world)),
    ),
  };
}

/** A passage of some kind, and how often it is to be drawn. */
export function passage<T>(
  weight: number,
  name: string,
  drawn: Arbitrary<T>,
  make: (drawn: T, world: World) => readonly Operation[],
) {
  return {
    weight,
    arbitrary: tuple(drawn, nat(2)).map(
      ([value, by]) => new Passage(name, by, (world) => make(value, world)),
    ),
  };
}

/** Time that passes, or jumps back. */
export const wait = (weight: number, ...ms: number[]) => ({
  weight,
  arbitrary: oneOf(...ms).map((time) => new Wait(time)),
});
