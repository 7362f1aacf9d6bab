import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FlowItem } from "../../../../src/features/flows/graph/flow-items.ts";
import { type FlowPlan, followersOf } from "../../../../src/features/flows/graph/flow-plan.ts";
import { planFlow } from "../../../../src/features/flows/graph/plan-flow.ts";
import { randomFlows } from "./random-flows.ts";

const task = (ref: string, after?: FlowItem<string>["after"]): FlowItem<string> => ({
  ref,
  queue: "q",
  payload: {},
  after,
});
const tasks = (number: number, letter: string, after?: (i: number) => FlowItem<string>["after"]) =>
  Array.from({ length: number }, (_, i) => task(`${letter}${i}`, after?.(i)));

/** Each node with what it waits for; `?` marks what may end in any way. */
function shown({ nodes, edges }: FlowPlan<string>): string[] {
  const name = (node: number) => `${nodes[node]?.kind === "gate" ? "gate of " : ""}${nodes[node]?.ref}`;
  return nodes.map((_, node) => {
    const numbers = [...edges.from.keys()].slice(edges.before[node], edges.before[node + 1]);
    const before = numbers.map((e) => name(edges.from[e] as number) + (edges.mustComplete[e] ? "" : "?"));
    return before.length === 0 ? name(node) : `${name(node)} < ${before.join(", ")}`;
  });
}

describe("a plan", () => {
  test("has each task behind all that it waits for, with its edges as they were written", () => {
    const plan = planFlow([
      task("mail", ["rows", { ref: "audit", on: "ended" }]),
      task("rows", "fetch"),
      task("audit", []),
      task("fetch"),
      task("log", { ref: "mail", on: "completed" }),
    ]);
    expect(shown(plan)).toEqual(["audit", "fetch", "rows < fetch", "mail < rows, audit?", "log < mail"]);
    expect(plan.nodes.map(({ path }) => path)).toEqual([2, 3, 1, 0, 4].map((i) => `tasks[${i}]`));
  });

  test("has one join for an inner flow, and one edge for each task in it and behind it", () => {
    const { nodes, edges } = planFlow([
      ...tasks(1_000, "mail", () => "rows"),
      { ref: "rows", after: "fetch", flow: tasks(1_000, "row") },
      task("fetch"),
    ]);
    expect({ nodes: nodes.length, edges: edges.from.length }).toEqual({ nodes: 2_002, edges: 3_000 });
    expect(nodes.filter(({ kind }) => kind === "join")).toEqual([
      { kind: "join", ref: "rows", path: "tasks[1000]", task: undefined },
    ]);
    expect(nodes[1]).toMatchObject({ ref: "rows/row0", path: "tasks[1000].flow[0]" });
  });

  test("has a gate where several first tasks of an inner flow wait for several others", () => {
    const { nodes, edges } = planFlow([
      ...tasks(100, "fetch"),
      { ref: "rows", after: tasks(100, "fetch").map(({ ref }) => ref), flow: tasks(100, "row") },
    ]);
    expect({ nodes: nodes.length, edges: edges.from.length }).toEqual({ nodes: 202, edges: 300 });
  });

  test("lets the first tasks of inner flows wait for what their flows wait for", () => {
    const plan = planFlow([
      task("fetch"),
      {
        ref: "audit",
        after: "fetch",
        flow: [
          {
            ref: "sums",
            flow: [task("rows"), task("mail", "rows"), task("log", { ref: "rows", on: "ended" })],
          },
        ],
      },
      task("last", "audit"),
      { ref: "none", after: { ref: "last", on: "ended" }, flow: [] },
    ]);
    expect(shown(plan)).toEqual([
      "fetch",
      "audit/sums/rows < fetch",
      "audit/sums/mail < audit/sums/rows",
      "audit/sums/log < fetch, audit/sums/rows?",
      "audit/sums < audit/sums/rows?, audit/sums/mail?, audit/sums/log?",
      "audit < audit/sums?",
      "last < audit",
      "gate of none < last?",
      "none < gate of none?",
    ]);
  });

  test("of any flow has edges only to later nodes, no edge twice, and each task once", () => {
    fc.assert(
      fc.property(randomFlows, (items) => {
        const { nodes, edges } = planFlow(items);
        const count = (list: readonly FlowItem<string>[]): number =>
          list.reduce((sum, item) => sum + ("flow" in item ? count(item.flow) : 1), 0);
        const found = nodes.filter(({ kind }) => kind === "task");
        expect(found).toHaveLength(count(items));
        expect(new Set(nodes.filter(({ kind }) => kind !== "gate").map(({ ref }) => ref)).size).toBe(
          nodes.filter(({ kind }) => kind !== "gate").length,
        );
        const { first, list, to } = followersOf(edges);
        const pairs = [...edges.from.keys()].map((edge) => `${edges.from[edge]} ${to[edge]}`);
        expect(new Set(pairs).size).toBe(pairs.length);
        for (const [edge, source] of edges.from.entries()) {
          expect(source).toBeLessThan(to[edge] as number);
          expect([...list.subarray(first[source], first[source + 1])]).toContain(edge);
        }
      }),
    );
  });
});

describe("a flow may have", () => {
  test("10,000 tasks, in a chain or in front of one", () => {
    const chain = planFlow(tasks(10_000, "t", (i) => (i < 9_999 ? `t${i + 1}` : [])));
    expect(chain.nodes.map(({ ref }) => ref)).toEqual(
      tasks(10_000, "t")
        .map(({ ref }) => ref)
        .toReversed(),
    );
    const before = tasks(9_999, "t");
    const { edges } = planFlow([
      ...before,
      task(
        "last",
        before.map(({ ref }) => ref),
      ),
    ]);
    expect([...edges.before.subarray(-2)]).toEqual([0, 9_999]);
  });

  test("as many inner flows in one another as their refs have room for", () => {
    let items: FlowItem<string>[] = [task("t")];
    for (let depth = 1; depth < 64; depth++) items = [{ ref: "f", flow: items }];
    expect(planFlow(items).nodes).toHaveLength(64);
    expect(() => planFlow([{ ref: "ff", flow: items }])).toThrow(
      /^tasks\[0\](?:\.flow\[0\])+\.ref must be shorter; /,
    );
  });
});

const named = (refs: readonly unknown[]) => refs.map((ref) => task(ref as string));
const inner = (after: FlowItem<string>["after"], flow: FlowItem<string>[]): FlowItem<string> => ({
  ref: "audit",
  after,
  flow,
});

const INVALID_REF = "must be 1 to 128 visible ASCII characters without /, beginning with a letter or a digit";
const INVALID_AFTER = 'must be a ref, { ref, on: "completed" | "ended" }, or a list of these';

describe("refused, with its path and refs, is", () => {
  test.each<[string, unknown, string, string]>([
    ["a list that is none", {}, "tasks", "must be an array of at most 10000 items"],
    ["an item that is none", [null], "tasks[0]", "must be an object"],
    ["a ref that is none", named([7]), "tasks[0].ref", INVALID_REF],
    ["an empty ref", named([""]), "tasks[0].ref", INVALID_REF],
    ["a ref with a slash", named(["a", "a/b"]), "tasks[1].ref", INVALID_REF],
    ["a long ref", named(["a".repeat(129)]), "tasks[0].ref", INVALID_REF],
    [
      "a ref twice",
      named(["rows", "mail", "rows"]),
      "tasks[2].ref",
      "must be unique; tasks[0] is named rows too",
    ],
    [
      "an option of a task for a flow",
      [{ ...inner([], []), delay: 1 }],
      "tasks[0].delay",
      "is an unknown option; expected one of ref, flow, after",
    ],
    [
      "an inner flow that is none",
      [{ ref: "a", flow: 1 }],
      "tasks[0].flow",
      "must be an array of at most 10000 items",
    ],
    [
      "an unknown ref",
      [task("rows"), task("mail", ["rows", "row"])],
      "tasks[1].after[1]",
      "names row, but there is no such ref; did you mean rows?",
    ],
    ["a ref of no text", [task("rows", { ref: 1 } as never)], "tasks[0].after.ref", "must be a text"],
    ["what is no ref", [task("rows", [1] as never)], "tasks[0].after[0]", INVALID_AFTER],
    ["null", [task("rows", null as never)], "tasks[0].after", INVALID_AFTER],
    [
      "another end",
      [task("rows"), task("mail", { ref: "rows", on: "failed" } as never)],
      "tasks[1].after.on",
      "must be completed or ended",
    ],
    [
      "another option of an edge",
      [task("rows", [{ ref: "a", when: 1 } as never])],
      "tasks[0].after[0].when",
      "is an unknown option; expected one of ref, on",
    ],
    [
      "the same ref twice",
      [task("rows"), task("mail", ["rows", { ref: "rows", on: "ended" }])],
      "tasks[1].after[1]",
      "must not name rows twice",
    ],
    [
      "a ref of the flow around",
      [task("fetch"), inner("fetch", [task("rows", "fetch")])],
      "tasks[1].flow[0].after",
      "names fetch, but there is no such ref in audit, whose tasks may wait only for each other",
    ],
    [
      "a ref of an inner flow",
      [inner([], [task("rows")]), task("mail", "audit/rows")],
      "tasks[1].after",
      "must not name audit/rows, which is in an inner flow; audit names all of it",
    ],
    ["a task that waits for itself", [task("rows", "rows")], "tasks[0].after", "closes a cycle: rows → rows"],
    [
      "a cycle of two",
      [task("rows", "mail"), task("mail", ["rows"])],
      "tasks[0].after",
      "closes a cycle: rows → mail → rows",
    ],
    [
      "a cycle behind others",
      [task("a"), task("d", ["a", "c"]), task("c", "b"), task("b", ["d"]), task("e", "b")],
      "tasks[1].after[1]",
      "closes a cycle: d → b → c → d",
    ],
    [
      "a cycle through an inner flow",
      [inner("mail", [task("rows")]), task("mail", "audit")],
      "tasks[0].after",
      "closes a cycle: audit → mail → audit",
    ],
    [
      "a cycle in an inner flow",
      [inner([], [task("rows", "mail"), task("mail", "rows")])],
      "tasks[0].flow[0].after",
      "closes a cycle: rows → mail → rows",
    ],
    [
      "a long cycle",
      tasks(10_000, "t", (i) => `t${(i + 9_999) % 10_000}`),
      "tasks[0].after",
      "closes a cycle: t0 → t1 → t2 → t3 → t4 → t5 → (9989 more) → t9995 → t9996 → t9997 → t9998 → t9999 → t0",
    ],
    ["too many tasks", tasks(10_001, "t"), "tasks", "must be an array of at most 10000 items"],
    [
      "too many tasks in inner flows",
      [inner([], tasks(5_000, "t")), { ref: "b", flow: tasks(5_000, "t") }],
      "tasks[1].flow",
      "has too many tasks; with its inner flows a flow has at most 10000",
    ],
  ])("%s", (_, items, path, problem) => {
    expect(() => planFlow(items as FlowItem<string>[])).toThrow(
      expect.objectContaining({ code: "invalid_argument", path, message: `${path} ${problem}` }),
    );
  });

  test("a flow of over a million refs", () => {
    const front = tasks(1_001, "a");
    const refs = front.map(({ ref }) => ref);
    expect(() => planFlow([...front, ...tasks(1_000, "b", () => refs)])).toThrow(
      "tasks[2000].after is too long; a flow has at most 1000000 refs: put tasks that the same tasks wait for into an inner flow",
    );
  });

  test("the same with another path", () => {
    expect(() => planFlow([task("rows", "mail")], "flow")).toThrow(
      "flow[0].after names mail, but there is no such ref",
    );
  });
});
