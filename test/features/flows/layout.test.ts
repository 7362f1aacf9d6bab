import { expect, test } from "vitest";
import {
  type AddedNodes,
  edgesText,
  layoutFields,
  layoutOf,
  plansOf,
} from "../../../src/kernel/linked/flow-layout.ts";

const plan = (more: Partial<AddedNodes> & Pick<AddedNodes, "refs" | "edges">): AddedNodes => ({
  shards: ["one"],
  runs: [[0, more.refs.length]],
  joins: [],
  gates: [],
  ...more,
});

/** The layout of nodes that were added one after the other. */
function layout(plans: Record<string, AddedNodes>) {
  const fields = Object.entries(plans).flatMap(([root, added]) => layoutFields("f@one", root, added));
  const texts = new Map(fields.map(({ name, text }) => [name, text]));
  return layoutOf(
    "f@one",
    fields.map(({ name }) => name),
    plansOf(texts),
  );
}

test("a layout has the nodes with their partitions, and what they wait for", () => {
  const { nodes, roots, fields } = layout({
    flow: plan({
      shards: ["one", "two/3"],
      runs: [
        [0, 2],
        [1, 2],
      ],
      refs: ["a", "b", "c", "d"],
      joins: [3],
      edges: ["", "c0", "c0-1", "e0,e2"],
    }),
  });
  expect(nodes.map(({ id, shard, ref, kind }) => [id, shard, ref, kind])).toEqual([
    ["0{f@one}", "one", "a", "task"],
    ["1{f@one}", "one", "b", "task"],
    ["2{f@one}", "two/3", "c", "task"],
    ["3{f@one}", "two/3", "d", "join"],
  ]);
  const after = nodes.map((node) => node.after.map(({ from, on }) => `${from} ${on}`));
  expect(after).toEqual([[], ["0 completed"], ["0 completed", "1 completed"], ["0 ended", "2 ended"]]);
  expect(roots.map(({ shard }) => shard)).toEqual(["one", "two/3"]);
  expect(fields).toEqual(["~F:f@one", "~F:f@one flow.0.1"]);
});

test("what was added later is in front of what waits for it, also if it was added by what was added", () => {
  const base = plan({ refs: ["a", "b"], edges: ["", "e0"] });
  const first = plan({ refs: ["a/x", "a/y"], edges: ["", "c0"], front: ["1", "e0-1"] });
  const next = plan({ refs: ["a/x/z"], edges: [""], front: ["g1", "c0"] });
  const { nodes, roots } = layout({ flow: base, g1: first, g2: next });
  expect(
    nodes.map(({ ref, after }) => [ref, after.map(({ from, on }) => `${nodes[from]?.ref} ${on}`)]),
  ).toEqual([
    ["a", []],
    ["a/x", []],
    ["a/y", ["a/x completed"]],
    ["a/x/z", []],
    ["b", ["a ended", "a/x/z ended", "a/x ended", "a/y ended"]],
  ]);
  expect(roots.map(({ id }) => id)).toEqual(["flow{f@one}", "g1{f@one}", "g2{f@one}"]);
});

test("a large layout is in fields of bounded length; without all of them, the nodes are not known yet", () => {
  const refs = Array.from({ length: 10_000 }, (_, i) => String(i).padStart(100, "r"));
  const fields = layoutFields("f@one", "flow", plan({ refs, edges: refs.map(() => "") }));
  expect(fields.map(({ name }) => name)).toEqual(["flow.0.3", "flow.1.3", "flow.2.3"]);
  const names = fields.map(({ name }) => name);
  const texts = new Map(fields.map(({ name, text }) => [name, text]));
  expect(layoutOf("f@one", names, plansOf(texts)).nodes).toHaveLength(10_000);
  texts.delete("flow.1.3");
  expect(layoutOf("f@one", names, plansOf(texts)).nodes).toEqual([]);
});

test("edges of one kind to nodes behind each other are one run", () => {
  expect(
    edgesText([
      ["e", 0],
      ["e", 1],
      ["e", 2],
      ["c", 3],
      ["c", 5],
    ]),
  ).toBe("e0-2,c3,c5");
});
