/** Passages: several calls in a row that lead to a state that single random calls seldom reach. */
import { array, nat } from "fast-check";
import { maybe, oneOf, pull, record } from "./arbitraries.ts";
import type { Operation } from "./operations.ts";
import { passage } from "./step.ts";

/**
 * Some tasks are enqueued, most of them are cancelled, and a consumer pulls fewer at once than were
 * cancelled. Now and then statistics or events are turned on or off before.
 */
export const throughCancelled = (weight: number) =>
  passage(
    weight,
    record({
      settings: maybe(
        oneOf<object>(
          { statistics: true },
          { events: true, statistics: false },
          { events: false, statistics: false },
        ),
      ),
      count: oneOf(1, 2, 3, 5, 8, 12),
      kept: array(nat(11), { maxLength: 2 }),
      pulls: array(pull, { minLength: 1, maxLength: 3 }),
    }),
    ({ settings, count, kept, pulls }, world): Operation[] => {
      const ids = Array.from({ length: count }, () => world.newId());
      return [
        ...(settings ? [{ does: "configure", key: world.newKey(), changes: settings } as const] : []),
        {
          does: "enqueue",
          key: world.newKey(),
          tasks: ids.map((id) => ({ id, payload: 0 })),
          waker: false,
        },
        { does: "cancelMany", ids: ids.filter((_, i) => !kept.includes(i)) },
        ...pulls.map((one) => ({ does: "dequeue", ...one }) as const),
      ];
    },
  );

/** A holder reports progress two or three times, then a late copy of one of these calls arrives. */
export const throughProgress = (weight: number) =>
  passage(
    weight,
    record({ receipt: nat(), steps: oneOf(2, 3), late: nat(2) }),
    ({ receipt: n, steps, late }, world): Operation[] => {
      const receipt = world.receipts.at(-1 - (n % Math.max(1, world.receipts.length)));
      if (receipt === undefined) return [];
      const calls = Array.from({ length: steps }, (_, i): Operation => ({
        does: "settle",
        key: world.newKey(),
        items: [{ receipt, outcome: "extend", text: { step: i } }],
      }));
      return [...calls, calls[late % steps] as Operation];
    },
  );
