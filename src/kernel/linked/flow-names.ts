/** How flows and their nodes are named. */

/** Which node of a flow is where. A control field of the flow's home has it. */
export interface FlowLayout {
  /** The partitions, by their names in the registry. The first one is the home. */
  readonly shards: readonly string[];
  /** Runs of nodes, in the order of their numbers: the place of their partition in `shards`, and how many they are. */
  readonly runs: readonly (readonly [shard: number, count: number])[];
  /** By the numbers of nodes; empty for one without a task. */
  readonly refs: readonly string[];
}

/** The numbers of the nodes that a partition has. */
export function nodesOf({ runs }: FlowLayout, shard: number): number[] {
  const numbers: number[] = [];
  let next = 0;
  for (const [at, count] of runs) {
    for (let i = 0; i < count; i++) if (at === shard) numbers.push(next + i);
    next += count;
  }
  return numbers;
}

/** The id of a node. All nodes of a flow have one tag, so that each queue has them in one partition. */
export const nodeId = (flow: string, number: number | string) => `${number}{${flow}}`;

/** The id of the flow as a whole, in its home. */
export const rootOf = (flow: string) => nodeId(flow, "flow");

/** The flow of a node. */
export const flowOf = (id: string) => id.slice(id.indexOf("{") + 1, id.lastIndexOf("}"));

export const layoutField = (flow: string) => `~F:${flow}`;
