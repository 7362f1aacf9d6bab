/** A passage through what single random calls seldom reach: a task fails, others fall, and it is redriven. */
import { array, boolean, constant, nat, tuple } from "fast-check";
import { leaseTime, maybe, oneOf, pull, record } from "../arbitraries.ts";
import type { Operation } from "../operations.ts";
import type { Real } from "../real.ts";
import { Step } from "../step.ts";
import type { World } from "../world.ts";
import { nodeId } from "./state.ts";

const drawn = record({
  pulls: tuple(pull, pull),
  lease: leaseTime,
  onFailure: maybe(constant("cancel" as const), 1),
  /** How many more requests the caller of the settle makes until it dies. */
  requests: oneOf(0, 0, 1, 9),
  /** The same of the caller that adds the flow. */
  adding: oneOf(0, 1, 9),
  isSwept: boolean(),
  isWhole: boolean(),
  by: array(nat(2), { minLength: 8, maxLength: 8 }),
});

/** @param weight how often it is drawn */
export const throughFailure = (weight: number) => ({
  weight,
  arbitrary: drawn.map(
    ({ pulls, lease, onFailure, requests, adding, isSwept, isWhole, by }) =>
      new Step<World, Real>(async (world, real, note) => {
        const id = world.newId();
        const made: Operation[] = [];
        const make = async (operation: Operation | undefined) => {
          if (!operation) return;
          made.push(operation);
          note(`${JSON.stringify(made)} by ${by.join(", ")} at ${world.now}`);
          await world.call(real, operation, by[made.length % by.length] as number, "none");
        };
        const first = `0{${id}@emails}`;
        const begin = (one: (typeof pulls)[0]) => ({
          ...one,
          does: "dequeue" as const,
          max: 200,
          single: undefined,
          lease,
        });
        const end = (outcome: "complete" | "reject"): Operation | undefined => {
          const receipt = world.receipts.findLast((one) => one.endsWith(`.${first}`));
          if (receipt === undefined) return undefined;
          const items = [{ receipt, outcome, text: outcome }];
          return {
            does: "dying",
            requests,
            operation: { does: "settle", key: world.newKey(), items },
          };
        };
        const items = [
          { ref: "t0", queue: "emails", payload: 0 },
          { ref: "t1", queue: "emails", payload: 0, after: ["t0"] },
          { ref: "t2", queue: "audits", payload: 0, after: ["t0", { ref: "t1", on: "ended" }] },
        ] as const;
        await make({
          does: "dying",
          requests: adding,
          operation: { does: "addFlow", id, onFailure, items },
        });
        await make(begin(pulls[0]));
        await make(end("reject"));
        if (isSwept) await make({ does: "sweep", limit: 1_000, waker: false, once: false });
        const flow = world.flows?.flow(`${id}@emails`);
        const [, second] = flow?.nodes ?? [];
        const before: Operation | undefined = flow &&
          second && { does: "before", id: nodeId(flow, second.number) };
        await make(before);
        await make(
          isWhole
            ? { does: "redriveFlow", id: `${id}@emails` }
            : { does: "redriveIds", ids: [{ id: first }] },
        );
        await make(begin(pulls[1]));
        await make(end("complete"));
        await make(before);
      }),
  ),
});
