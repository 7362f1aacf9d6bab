import * as fc from "fast-check";
import { expect, test } from "vitest";
import { reportGraph } from "../../../../src/features/flows/graph/index.ts";
import type { FlowPlan } from "../../../../src/features/flows/graph/flow-plan.ts";
import { planFlow } from "../../../../src/features/flows/graph/plan-flow.ts";
import type { FlowNodeReport } from "../../../../src/features/flows/types.ts";
import { randomFlows } from "./random-flows.ts";

/** The nodes of a plan as a report has them: gates are replaced by what they wait for. */
function reported({ nodes, edges }: FlowPlan<string>): FlowNodeReport[] {
  const afterNode = (node: number): FlowNodeReport["after"] =>
    Array.from(edges.from.slice(edges.before[node], edges.before[node + 1])).flatMap((from, i) => {
      if (nodes[from]?.kind === "gate") return afterNode(from);
      const on = edges.mustComplete[(edges.before[node] as number) + i] ? "completed" : "ended";
      return [{ ref: nodes[from]?.ref ?? "", on }];
    });
  return nodes.flatMap(({ kind, ref, task }, node) =>
    kind === "gate"
      ? []
      : [
          {
            kind: kind === "join" ? "flow" : "task",
            ref,
            queue: task?.queue,
            state: "blocked",
            after: afterNode(node),
          },
        ],
  );
}

/** What the nodes of a graph wait for, through its gates. */
function afterOf({ nodes, edges }: ReturnType<typeof reportGraph>, node: number): string[] {
  return edges.from.slice(edges.before[node], edges.before[node + 1]).flatMap((from, i) => {
    expect(from).toBeLessThan(node);
    const edge = (edges.before[node] as number) + i;
    const source = nodes[from];
    return source ? [`${source.ref} ${edges.mustComplete[edge]}`] : afterOf({ nodes, edges }, from);
  });
}

test("the graph of a report has its nodes in their order, and what they wait for", () => {
  fc.assert(
    fc.property(randomFlows, (items) => {
      const nodes = reported(planFlow(items));
      const graph = reportGraph(nodes);
      expect(graph.nodes.filter((node) => node !== undefined)).toEqual(nodes);
      for (const [i, node] of graph.nodes.entries()) {
        const after = node?.after.map(({ ref, on }) => `${ref} ${on === "completed" ? 1 : 0}`);
        if (after) expect(afterOf(graph, i)).toEqual(after);
      }
    }),
    { numRuns: 50 },
  );
});

test("many tasks that wait for many others need few edges", () => {
  const many = (flow: string) => Array.from({ length: 100 }, (_, i) => `${flow}${i}`);
  const node = (ref: string, after: FlowNodeReport["after"]): FlowNodeReport => ({
    ref,
    kind: "task",
    queue: "q",
    state: "blocked",
    after,
  });
  const after = many("a").map((ref) => ({ ref, on: "completed" as const }));
  const { nodes, edges } = reportGraph([
    ...many("a").map((ref) => node(ref, [])),
    ...many("b").map((ref) => node(ref, after)),
    node("few", after.slice(0, 2)),
  ]);
  expect(nodes.flatMap((one, i) => (one ? [] : [i]))).toEqual([100]);
  expect(edges.from).toHaveLength(202);
});
