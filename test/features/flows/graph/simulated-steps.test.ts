import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Changes, Simulation } from "../../../../src/features/flows/graph/simulate.ts";
import { begun } from "./begun-flow.ts";
import { expectedStates, type Past } from "./expected-states.ts";
import { randomFlows } from "./random-flows.ts";

/** What to do with one of the tasks, by its number modulo theirs. */
const steps = fc.array(
  fc.record({ does: fc.constantFrom("complete", "complete", "reject", "redrive", "cancel"), with: fc.nat() }),
  { maxLength: 40 },
);

test("each step has the effect that the rules say, also through inner flows", () => {
  fc.assert(
    fc.property(randomFlows, steps, (items, drawn) => {
      const { simulation, tasks, states } = begun(items);
      const past: Past = { ends: new Map(), cancelled: new Set(), begun: new Set() };
      const compare = () => expect(states()).toEqual(Object.fromEntries(expectedStates(items, past)));
      compare();
      /** Compares what a step says that it has changed with the states of tasks. */
      const checked = (step: () => Changes) => {
        const before = states();
        const { released, fallen, cancelled, blocked } = step();
        const after = states();
        const changed = (from: RegExp, now: string) =>
          tasks.filter(
            ({ ref }) => from.test(before[ref] ?? "") && after[ref] === now && before[ref] !== now,
          );
        const those = (nodes: readonly number[]) => tasks.filter(({ node }) => nodes.includes(node));
        expect(those(released)).toEqual(changed(/blocked/, "ready"));
        expect(those(fallen)).toEqual(changed(/blocked/, "rejected: dependency_failed"));
        expect(those(cancelled)).toEqual(changed(/./, "rejected: cancelled"));
        expect(those(blocked)).toEqual(changed(/rejected/, "blocked"));
      };
      for (const { does, with: drawnTask } of drawn) {
        const one = tasks[drawnTask % tasks.length];
        if (!one) continue;
        const [before, reason] = [simulation.stateOf(one.node), simulation.reasonOf(one.node)];
        if (does === "redrive") {
          checked(() => simulation.redrive(one.node));
          if (reason === "rejected") past.ends.delete(one.ref);
        } else if (does === "cancel") {
          checked(() => simulation.cancel(one.node));
          if (before === "ready" || before === "blocked") past.cancelled.add(one.ref);
        } else {
          const as = does === "complete" ? "completed" : "rejected";
          checked(() => simulation.end(one.node, as));
          if (before === "ready") past.ends.set(one.ref, as);
        }
        compare();
      }
    }),
    { numRuns: 1_000 },
  );
});

/** Whether something is left that can be done, if not all has ended. */
const canGoOn = (simulation: Simulation, nodes: number) =>
  simulation.hasEnded ||
  Array.from({ length: nodes }, (_, node) => simulation.stateOf(node)).includes("ready");

test("no task waits for ever: while a flow has not ended, one of its tasks is ready", () => {
  fc.assert(
    fc.property(randomFlows, steps, fc.constantFrom("cancel", undefined), (items, drawn, onFailure) => {
      const { plan, simulation, tasks } = begun(items, { onFailure });
      for (const { does, with: drawnTask } of drawn) {
        const node = tasks[drawnTask % tasks.length]?.node;
        if (node === undefined) break;
        if (does === "redrive" || does === "cancel") simulation[does](node);
        else simulation.end(node, does === "complete" ? "completed" : "rejected");
        expect(canGoOn(simulation, plan.nodes.length)).toBe(true);
      }
      for (const { node } of tasks) simulation.end(node, "completed");
      expect(simulation.hasEnded).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});
