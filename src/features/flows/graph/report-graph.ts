import type { FlowNodeReport } from "../types.ts";
import type { FlowEdges } from "./flow-plan.ts";

/** The graph of a report, as a plan has it. */
export interface ReportGraph {
  /** Each behind all that it waits for. Undefined for a gate, where the edges of several nodes meet. */
  readonly nodes: readonly (FlowNodeReport | undefined)[];
  readonly edges: { readonly [Name in keyof FlowEdges]: readonly number[] };
}

type On = FlowNodeReport["after"][number]["on"];

/** Up to so many edges are drawn one by one. */
const FEW = 16;

/**
 * The graph of the nodes of a report. If several nodes wait for the same ones, they have a gate: a line from each of a
 * thousand tasks to each of a thousand others would be too much for any picture.
 * @param reported each behind all that it waits for
 */
export function reportGraph(reported: readonly FlowNodeReport[]): ReportGraph {
  const keys = reported.map(({ after }) => after.map(({ ref, on }) => `${on} ${ref}`).join());
  const sharedBy = new Map<string, number>();
  for (const key of keys) sharedBy.set(key, (sharedBy.get(key) ?? 0) + 1);

  const nodes: (FlowNodeReport | undefined)[] = [];
  const before = [0];
  const from: number[] = [];
  const mustComplete: number[] = [];
  const mustFail: number[] = [];
  const numbers = new Map<string, number>();
  const gates = new Map<string, number>();
  const add = (node: FlowNodeReport | undefined, sources: readonly (readonly [number, On])[]) => {
    for (const [source, on] of sources) {
      from.push(source);
      mustComplete.push(on === "completed" ? 1 : 0);
      mustFail.push(on === "failed" ? 1 : 0);
    }
    before.push(from.length);
    return nodes.push(node) - 1;
  };
  for (const [i, node] of reported.entries()) {
    const key = keys[i] as string;
    const sources = node.after.flatMap(({ ref, on }) => {
      const number = numbers.get(ref);
      return number === undefined ? [] : [[number, on] as const];
    });
    const count = sharedBy.get(key) as number;
    const isGated = sources.length > 1 && count > 1 && sources.length * count > FEW;
    const gate = isGated ? (gates.get(key) ?? add(undefined, sources)) : undefined;
    if (gate !== undefined) gates.set(key, gate);
    numbers.set(node.ref, add(node, gate === undefined ? sources : [[gate, "completed"]]));
  }
  return { nodes, edges: { before, from, mustComplete, mustFail } };
}
