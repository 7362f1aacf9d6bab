/** Random flows, with inner flows, of tasks whose queue is a letter. */
import * as fc from "fast-check";
import type { After, FlowItem } from "../../../../src/features/flows/graph/flow-items.ts";

interface Drawn {
  readonly waits: readonly { readonly for: number; readonly on: "completed" | "ended" }[];
  readonly inner: readonly Drawn[] | null;
  /** Decides over the place in the list. */
  readonly rank: number;
}

const drawn = (depth: number): fc.Arbitrary<readonly Drawn[]> =>
  fc.array(
    fc.record({
      waits: fc.array(fc.record({ for: fc.nat(9), on: fc.constantFrom("completed", "ended") }), {
        maxLength: 3,
      }),
      inner: depth > 0 ? fc.option(drawn(depth - 1), { freq: 2 }) : fc.constant(null),
      rank: fc.nat(9),
    }),
    { maxLength: 5 },
  );

/** Items wait only for those that were drawn before them, so there is no cycle. */
function written(list: readonly Drawn[]): FlowItem<string>[] {
  const items = list.map(({ waits, inner, rank }, i) => {
    const named = new Map<string, After>();
    for (const { for: place, on } of i > 0 ? waits : []) {
      const ref = `t${place % i}`;
      named.set(ref, on === "completed" ? ref : { ref, on });
    }
    const at = { ref: `t${i}`, after: [...named.values()] };
    return { rank, item: inner ? { ...at, flow: written(inner) } : { ...at, queue: "q", payload: i } };
  });
  return items.toSorted((one, other) => one.rank - other.rank).map(({ item }) => item);
}

export const randomFlows: fc.Arbitrary<FlowItem<string>[]> = drawn(2).map(written);
