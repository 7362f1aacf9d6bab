/** What the line of a row says. */
import type { DrawnFlow, DrawnNode } from "./drawn-flow.ts";
import type { Row } from "./rows.ts";

/** Most refs that are named one by one. */
const MOST_NAMED = 3;

export interface Cells {
  /** `*` completed, `x` rejected, `o` not ended; of several nodes the worst. */
  readonly mark: "*" | "x" | "o";
  readonly ref: string;
  readonly queue: string;
  /** How many of its nodes are in which state; the most common one first. */
  readonly states: readonly { readonly state: string; readonly text: string }[];
  readonly note: string;
}

/** @param dots `…`, or what is written for it */
export function cellsOf(
  flow: DrawnFlow,
  { nodes: numbers, entries }: Row,
  dots: string,
  namesEntries: boolean,
): Cells {
  const nodes = numbers.map((node) => flow.nodes[node] as DrawnNode);
  const [first, last] = [nodes[0] as DrawnNode, nodes.at(-1) as DrawnNode];
  const isOne = nodes.length === 1;
  const counts = new Map<string, number>();
  for (const { state } of nodes) counts.set(state, (counts.get(state) ?? 0) + 1);
  const rejected = nodes.filter(({ state }) => state === "rejected").map(({ ref }) => ref);
  const refOf = (node: number) => flow.nodes[node]?.ref ?? "";
  const after = namesEntries ? [...new Set(entries.flat())].map(refOf) : [];
  const ends = isOne ? endsBefore(flow, numbers[0] as number) : [];
  const [anyEnds, failures] = [false, true].map((isFailure) =>
    ends.filter((end) => end.isFailure === isFailure).map((end) => refOf(end.node)),
  ) as [string[], string[]];
  const notes = [
    isOne ? first.note : undefined,
    !isOne && rejected.length > 0 ? `rejected: ${named(rejected)}` : undefined,
    after.length > 0 ? `after ${named(after)}` : undefined,
    anyEnds.length > 0 ? `on any end of ${named([...new Set(anyEnds)])}` : undefined,
    failures.length > 0 ? `if ${named([...new Set(failures)])} fails` : undefined,
  ];
  return {
    mark: rejected.length > 0 ? "x" : nodes.every(({ state }) => state === "completed") ? "*" : "o",
    ref: isOne ? first.ref : `${first.ref} ${dots} ${last.ref} (${nodes.length.toLocaleString("en")})`,
    queue: named([...new Set(nodes.map(({ kind, queue = "" }) => (kind === "join" ? "(flow)" : queue)))]),
    states: [...counts]
      .toSorted(([, one], [, other]) => other - one)
      .map(([state, count]) => ({ state, text: isOne ? state : `${count.toLocaleString("en")} ${state}` })),
    note: notes.filter((note) => note !== undefined && note !== "").join("; "),
  };
}

function named(refs: readonly string[]): string {
  const more = refs.length - MOST_NAMED;
  return more > 0
    ? `${refs.slice(0, MOST_NAMED).join(", ")} and ${more.toLocaleString("en")} more`
    : refs.join(", ");
}

/** What a node waits for but need not complete, also through gates. */
function endsBefore({ nodes, edges }: DrawnFlow, node: number): { node: number; isFailure: boolean }[] {
  const found: { node: number; isFailure: boolean }[] = [];
  const isJoin = nodes[node]?.kind === "join";
  for (let edge = edges.before[node] as number; edge < (edges.before[node + 1] as number); edge++) {
    const source = edges.from[edge] as number;
    if (nodes[source]?.kind === "gate") found.push(...endsBefore({ nodes, edges }, source));
    else if (!isJoin && edges.mustComplete[edge] === 0)
      found.push({ node: source, isFailure: edges.mustFail[edge] === 1 });
  }
  return found;
}
