import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { DrawnFlow, DrawOptions } from "../../../../src/features/flows/graph/draw/drawn-flow.ts";
import { drawFlow } from "../../../../src/features/flows/graph/draw/draw-flow.ts";
import type { FlowItem } from "../../../../src/features/flows/graph/flow-items.ts";
import type { FlowPlan } from "../../../../src/features/flows/graph/flow-plan.ts";
import { planFlow } from "../../../../src/features/flows/graph/plan-flow.ts";
import { randomFlows } from "./random-flows.ts";

const task = (ref: string, queue: string, after?: FlowItem<string>["after"]): FlowItem<string> => ({
  ref,
  queue,
  payload: {},
  after,
});

/** A plan with the states of its tasks; what has none is blocked. */
function drawn({ nodes, edges }: FlowPlan<string>, states: Readonly<Record<string, string>> = {}): DrawnFlow {
  return {
    edges,
    nodes: nodes.map(({ kind, ref, task: of }) => {
      const [state = "", note] = (states[ref] ?? "blocked").split(": ");
      return { kind, ref, queue: of?.queue, state, note };
    }),
  };
}

const draw = (
  items: readonly FlowItem<string>[],
  states: Record<string, string> = {},
  options: DrawOptions = {},
) =>
  drawFlow(drawn(planFlow(items), states), options)
    .split("\n")
    .slice(0, -1);

const night = [
  task("fetch", "imports"),
  task("rows", "rows", "fetch"),
  task("mail", "emails", ["rows", { ref: "audit", on: "ended" }]),
  task("audit", "audits"),
  task("last", "logs", ["fetch", "mail"]),
];
const atNight = { fetch: "completed", audit: "rejected: attempts_exhausted", rows: "working" };

test("a flow is drawn with its lines, refs, queues, states and notes", () => {
  expect(draw(night, atNight)).toEqual([
    "┌───┬─* fetch  imports  completed",
    "│ ┌─│─x audit  audits   rejected   attempts_exhausted",
    "│ ├─┴>o rows   rows     working",
    "├─┴>──o mail   emails   blocked    on any end of audit",
    "└>────o last   logs     blocked",
  ]);
  expect(draw(night, atNight, { ascii: true })).toEqual([
    ".---.-* fetch  imports  completed",
    "| .-|-x audit  audits   rejected   attempts_exhausted",
    "| +-'>o rows   rows     working",
    "+-'>--o mail   emails   blocked    on any end of audit",
    "'>----o last   logs     blocked",
  ]);
});

test("a task that waits for the failure of another one says so", () => {
  const { nodes, edges } = drawn(
    planFlow([task("all", "q"), task("sorry", "q", { ref: "all", on: "ended" })]),
  );
  expect(drawFlow({ nodes, edges: { ...edges, mustFail: [1] } }).split("\n")[1]).toBe(
    "└>o sorry  q  blocked  if all fails",
  );
});

test("a note is cut to the width, and a state gets its colour", () => {
  const color = (text: string, state: string) => `<${state[0]}${text}>`;
  expect(draw(night, atNight, { width: 45, color }).slice(1, 4)).toEqual([
    "│ ┌─│─x audit  audits   <rrejected>   attempts_…",
    "│ ├─┴>o rows   rows     <wworking>",
    "├─┴>──o mail   emails   <bblocked>    on any en…",
  ]);
  expect(draw(night, atNight, { width: 36 })[1]).toBe("│ ┌─│─x audit  audits   rejected");
});

test("many tasks that are alike have one line, with how many are in which state, and which were rejected", () => {
  const pages = Array.from({ length: 1_200 }, (_, i) => task(`p${i}`, "pages"));
  const states = Object.fromEntries(
    pages.map(({ ref }, i) => [`pages/${ref}`, i % 400 === 7 ? "rejected" : "completed"]),
  );
  const items = [
    task("fetch", "imports"),
    task("ask", "mails"),
    { ref: "pages", after: ["fetch", { ref: "ask", on: "ended" as const }], flow: pages },
    task("merge", "rows", "pages"),
    ...Array.from({ length: 5 }, (_, i) => task(`log${i}`, "logs", "merge")),
  ];
  expect(
    draw(items, { ...states, "pages/p1": "working", fetch: "completed", ask: "completed", pages: "working" }),
  ).toEqual([
    "┌───* fetch                           imports  completed",
    "├───* ask                             mails    completed",
    "└>┬─x pages/p0 … pages/p1199 (1,200)  pages    1,196 completed, 3 rejected, 1 working  rejected: pages/p7, pages/p407, pages/p807",
    "┌─┴>o pages                           (flow)   working",
    "└>┬─o merge                           rows     blocked",
    "  └>o log0 … log4 (5)                 logs     5 blocked",
  ]);
});

test("the last tasks of a wide layer have one line", () => {
  const first = Array.from({ length: 40 }, (_, i) => task(`a${i}`, "q"));
  const items = [...first, ...first.map(({ ref }, i) => task(`b${i}`, `q${i % 7}`, ref))];
  const lines = draw(items);
  expect(lines).toHaveLength(32);
  expect(lines[15]).toMatch(/o a15 … a39 \(25\) +q +25 blocked$/);
  expect(lines[31]).toMatch(/o b15 … b39 \(25\) +q1, q2, q3 and 4 more +25 blocked$/);
});

test("with too many lines side by side, tasks name what they wait for", () => {
  const refs = Array.from({ length: 60 }, (_, i) => `t${i}`);
  const items = refs.map((ref, i) =>
    task(
      ref,
      "q",
      refs.slice(0, i).filter((_, k) => (i * 7 + k) % 3 > 0),
    ),
  );
  const lines = draw(items);
  expect(lines[0]).toBe("o t0   q  blocked");
  expect(lines[9]).toBe("o t9   q  blocked  after t1, t2, t4 and 3 more");
});

test("a flow without tasks is drawn as nothing", () => {
  expect(drawFlow(drawn(planFlow([])))).toBe("");
});

/** Reads the lines of a drawing: pairs of rows of which the second waits for the first. */
function connections(lines: readonly string[], rail: RegExp): string[] {
  const fronts = lines.map((line) => line.slice(0, line.search(rail)));
  const pairs: string[] = [];
  for (let column = 0; column < (fronts[0]?.length ?? 0); column += 2) {
    let sources: number[] = [];
    for (const [row, front] of fronts.entries()) {
      const [joint, next] = [front[column] as string, front[column + 1]];
      if (!"┌┬├┼└┴".includes(joint)) continue;
      if ("┌┬".includes(joint)) sources = [];
      if (next === ">") pairs.push(...sources.map((source) => `${source} ${row}`));
      else sources.push(row);
    }
  }
  return pairs.toSorted();
}

test("the lines of a drawing are the edges of the flow, except that gates are not drawn", () => {
  let drawings = 0;
  fc.assert(
    fc.property(randomFlows, (items) => {
      const plan = planFlow(items);
      const lines = drawFlow(drawn(plan)).split("\n").slice(0, -1);
      const rows = new Map(lines.map((line, row) => [/[*xo] (\S+)/.exec(line)?.[1], row]));
      const { nodes, edges } = plan;
      if (
        rows.size !== nodes.filter(({ kind }) => kind !== "gate").length ||
        lines.some((line) => line.includes(" … "))
      )
        return;
      const before = (node: number): number[] =>
        Array.from(edges.from.slice(edges.before[node], edges.before[node + 1])).flatMap((source) =>
          nodes[source]?.kind === "gate" ? before(source) : [source],
        );
      const expected = [...nodes.entries()].flatMap(([node, { kind, ref }]) =>
        kind === "gate"
          ? []
          : before(node).map((source) => `${rows.get(nodes[source]?.ref)} ${rows.get(ref)}`),
      );
      // With too many lines side by side there are none.
      if (expected.length === 0 || !lines.some((line) => /^[┌├└│ ]/.test(line))) return;
      drawings++;
      expect(connections(lines, /[*xo] t/)).toEqual([...new Set(expected)].toSorted());
    }),
    { numRuns: 300 },
  );
  expect(drawings).toBeGreaterThan(50);
});
