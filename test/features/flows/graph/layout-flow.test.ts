import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FlowItem } from "../../../../src/features/flows/graph/flow-items.ts";
import { type FlowLayout, layoutFlow } from "../../../../src/features/flows/graph/layout-flow.ts";
import { layersOf } from "../../../../src/features/flows/graph/layers.ts";
import { planFlow } from "../../../../src/features/flows/graph/plan-flow.ts";
import { dice } from "../../../support/dice.ts";
import { randomFlows } from "./random-flows.ts";

/** Edges of a graph whose nodes wait for these. */
function edgesOf(sources: readonly (readonly number[])[]) {
  const before = [0];
  for (const list of sources) before.push((before.at(-1) as number) + list.length);
  return { before, from: sources.flat() };
}

/** Each waits for some of those before it. */
function randomGraph(nodes: number, { seed, most, reach }: { seed: number; most: number; reach: number }) {
  const random = dice(seed);
  return edgesOf(
    Array.from({ length: nodes }, (_, node) => {
      const count = Math.min(node, Math.floor(random() * (most + 1)));
      const drawn = Array.from(
        { length: count },
        () => node - 1 - Math.floor(random() * Math.min(node, reach)),
      );
      return [...new Set(drawn)];
    }),
  );
}

/** The pieces of edges between two layers, each once, as positions in both. */
function pieces({ edges }: FlowLayout): readonly (readonly [number, number])[][] {
  const layers = new Map<number, Map<string, readonly [number, number]>>();
  for (const points of edges) {
    for (const [i, [along, across]] of points.slice(0, -1).entries()) {
      const to = points[i + 1]?.[1] as number;
      layers.set(along, (layers.get(along) ?? new Map()).set(`${across} ${to}`, [across, to]));
    }
  }
  return [...layers.values()].map((found) => [...found.values()]);
}

const crossings = (layout: FlowLayout) =>
  pieces(layout).flatMap((lines) =>
    lines.flatMap(([from, to], i) =>
      lines.slice(i + 1).filter((other) => (from - other[0]) * (to - other[1]) < 0),
    ),
  ).length;

describe("the picture of a flow", () => {
  const SIZES = { layer: 100, node: 50 };

  test("has each node in its layer, apart from others, and whole edges, whose pieces are there once", () => {
    fc.assert(
      fc.property(randomFlows, (items) => {
        const { edges, nodes } = planFlow(items);
        const layout = layoutFlow(edges, SIZES);
        const layers = layersOf(edges);
        expect(layout.nodes.map(([along]) => along)).toEqual(layers.map((layer) => layer * SIZES.layer));
        for (const layer of new Set(layers)) {
          const across = layout.nodes.filter((_, node) => layers[node] === layer).map(([, at]) => at);
          across.sort((one, other) => one - other);
          for (const [i, at] of across.slice(1).entries()) {
            // Both were rounded.
            expect(at - (across[i] as number)).toBeGreaterThanOrEqual(SIZES.node - 1);
          }
        }
        const passed = new Map<number, Set<string>>();
        for (const [node] of nodes.entries()) {
          for (let edge = edges.before[node] as number; edge < (edges.before[node + 1] as number); edge++) {
            const points = layout.edges[edge] ?? [];
            const source = edges.from[edge] as number;
            const of = passed.get(source) ?? new Set([String(layout.nodes[source])]);
            passed.set(source, of);
            expect(of).toContain(String(points[0]));
            for (const point of points.slice(0, -1)) of.add(String(point));
            expect(points.at(-1)).toEqual(layout.nodes[node]);
            const last = layers[node] as number;
            expect(points.map(([along]) => along)).toEqual(
              points.map((_, i) => (last + 1 - points.length + i) * SIZES.layer),
            );
          }
        }
        const all = [...layout.nodes, ...layout.edges.flat()];
        for (const i of [0, 1] as const) {
          expect(all.every((point) => point[i] >= 0 && point[i] <= layout.size[i])).toBe(true);
        }
        expect(layoutFlow(edges, SIZES)).toEqual(layout);
      }),
    );
  });

  test("is a straight line of a chain", () => {
    const chain = Array.from({ length: 4 }, (_, i) => (i > 0 ? [i - 1] : []));
    expect(layoutFlow(edgesOf(chain))).toEqual({
      size: [480, 0],
      nodes: [0, 160, 320, 480].map((along) => [along, 0]),
      edges: [1, 2, 3].map((i) => [
        [(i - 1) * 160, 0],
        [i * 160, 0],
      ]),
    });
  });

  test("has a task that waits for none next to the first that waits for it", () => {
    expect(layersOf(edgesOf([[], [0], [1], [], [2, 3], []]))).toEqual([0, 1, 2, 2, 3, 0]);
  });

  test("of nothing is empty", () => {
    expect(layoutFlow(edgesOf([]))).toEqual({ size: [0, 0], nodes: [], edges: [] });
  });

  test("leads an edge past the nodes of the layers between", () => {
    const { nodes, edges } = layoutFlow(edgesOf([[], [0], [1], [0, 2]]), SIZES);
    const past = edges[2] ?? [];
    for (const node of [1, 2]) {
      const [at, bend] = [nodes[node], past[node]] as const;
      expect(bend?.[0]).toBe(at?.[0]);
      expect(Math.abs((bend?.[1] ?? 0) - (at?.[1] ?? 0))).toBeGreaterThanOrEqual(SIZES.node / 2);
    }
  });
});

describe("edges", () => {
  test("of a graph that needs no crossing have none", () => {
    const twisted = edgesOf([[], [], [], [2], [1], [0], [4], [3], [5]]);
    expect(crossings(layoutFlow(twisted))).toBe(0);
    const fans = planFlow([
      { ref: "a", flow: Array.from({ length: 9 }, (_, i) => ({ ref: `t${i}`, queue: "q", payload: i })) },
      {
        ref: "b",
        after: "a",
        flow: Array.from({ length: 7 }, (_, i) => ({ ref: `t${i}`, queue: "q", payload: i })),
      },
      ...["x", "y", "z"].map((ref): FlowItem<string> => ({ ref, queue: "q", payload: 0, after: "b" })),
    ]);
    expect(crossings(layoutFlow(fans.edges))).toBe(0);
  });

  test("of random graphs cross less than half as often as in the order of their nodes", () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const graph = randomGraph(60, { seed, most: 2, reach: 20 });
      const layout = layoutFlow(graph);
      // Each node, and each bend, is placed across in the order of its number.
      const places = new Map<string, number>();
      const unsorted = (point: readonly number[]) => {
        const key = point.join();
        places.set(key, places.get(key) ?? places.size);
        return [point[0], places.get(key)] as [number, number];
      };
      layout.nodes.forEach(unsorted);
      const inOrder = { ...layout, edges: layout.edges.map((points) => points.map(unsorted)) };
      expect(crossings(layout)).toBeLessThan(crossings(inOrder) / 2);
    }
  });

  test("of a graph with very many long ones are straight from some number on", () => {
    const nodes = 1_000;
    const chain = Array.from({ length: nodes }, (_, i) => (i > 1 ? [i - 1, i >> 1] : i === 1 ? [0] : []));
    const graph = edgesOf(chain.map((sources) => [...new Set(sources)]));
    const { edges } = layoutFlow(graph);
    const points = edges.reduce((sum, { length }) => sum + length, 0);
    expect(edges).toHaveLength(graph.from.length);
    expect(points).toBeLessThanOrEqual(2 * edges.length + 10_000);
    expect(edges.filter(({ length }) => length === 2).length).toBeGreaterThan(nodes);
  });
});

test("it needs nothing of Node or of the queue, and less than 2 KB of a page", async () => {
  const root = fileURLToPath(new URL("../../../../", import.meta.url));
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/features/flows/graph/layout-flow.ts"],
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    metafile: true,
  });
  expect(Object.keys(metafile.inputs).toSorted()).toEqual([
    "src/features/flows/graph/layers.ts",
    "src/features/flows/graph/layout-flow.ts",
  ]);
  expect(gzipSync(outputFiles[0]?.contents ?? "").length).toBeLessThan(2_000);
});
