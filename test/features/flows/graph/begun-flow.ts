import type { FlowItem } from "../../../../src/features/flows/graph/flow-items.ts";
import { planFlow } from "../../../../src/features/flows/graph/plan-flow.ts";
import { simulate, type SimulationOptions } from "../../../../src/features/flows/graph/simulate.ts";

/** A flow under way, by the refs of its tasks. */
export function begun(items: readonly FlowItem<string>[], options: SimulationOptions = {}) {
  const plan = planFlow(items);
  const simulation = simulate(plan, options);
  const tasks = [...plan.nodes.entries()].flatMap(([node, { kind, ref }]) =>
    kind === "task" ? [{ node, ref }] : [],
  );
  const find = (ref: string, kind = "task") =>
    plan.nodes.findIndex((node) => node.ref === ref && node.kind === kind);
  const stateOf = (node: number) => {
    const [state, reason] = [simulation.stateOf(node), simulation.reasonOf(node)];
    return reason === undefined ? state : `${state}: ${reason}`;
  };
  const states = () => Object.fromEntries(tasks.map(({ node, ref }) => [ref, stateOf(node)]));
  return { plan, simulation, tasks, find, states, stateOf };
}
