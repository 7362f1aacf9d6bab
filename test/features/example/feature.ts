import type { Adds, Store } from "../../../src/kernel/store.ts";

/** The feature of the test beside it: counts the calls that pass through, by their names, and changes nothing. */
export type Passed = Map<keyof Store, number>;

/** For what producers need of a queue. */
export function passAdds<S extends Adds>(next: S, passed: Passed): S {
  return { ...next, add: counting("add", passed, next.add), find: counting("find", passed, next.find) };
}

/** For a whole queue. */
export function pass(store: Store, passed: Passed): Store {
  const next = passAdds(store, passed);
  return {
    ...next,
    take: counting("take", passed, next.take),
    settle: counting("settle", passed, next.settle),
    settleAndTake: counting("settleAndTake", passed, (batch, request) => next.settleAndTake(batch, request)),
    peek: counting("peek", passed, next.peek),
  };
}

function counting<Call extends (...args: never[]) => unknown>(
  name: keyof Store,
  passed: Passed,
  call: Call,
): Call {
  const counted = (...args: Parameters<Call>) => {
    passed.set(name, (passed.get(name) ?? 0) + 1);
    return call(...args);
  };
  return counted as Call;
}
