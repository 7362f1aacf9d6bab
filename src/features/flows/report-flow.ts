/** What has become of a flow. */
import { type CallOfScript, runAll } from "../../kernel/call.ts";
import { type LayoutEdge, type LayoutNode, readLayout } from "../../kernel/linked/flow-layout.ts";
import { rootOf } from "../../kernel/linked/flow-names.ts";
import { type NodeStatus, readNodesScript } from "../../kernel/linked/link-scripts.ts";
import { type Link, shardNamed } from "../../kernel/linked/link.ts";
import { readShardName } from "../../kernel/names/keys.ts";
import type { RejectReason, RequestOptions, TaskState } from "../../kernel/options/types.ts";
import { taskStates } from "../../kernel/options/types.ts";
import type { ReplyTo } from "../../kernel/shard.ts";
import { groupedBy, slicesOf } from "../../kernel/slices.ts";
import { homeOf, type OpenAdds } from "./operate-flow.ts";
import type { FlowNodeReport, FlowReport } from "./types.ts";

/** How many nodes one call reads, how many calls are one request, and of how many bytes a call reads the records. */
const PER_CALL = 500;
const PER_REQUEST = 16;
const MAX_BYTES = "1000000";

type ReadCall = CallOfScript<ReplyTo<typeof readNodesScript>>;

/** Reads what has become of a flow; null if it is not known. */
export async function reportFlow(
  open: OpenAdds,
  flow: string,
  options: RequestOptions,
): Promise<FlowReport | null> {
  const found = await homeOf(open, flow, options);
  const layout = found && (await readLayout(found.home, flow, options));
  if (!layout) return null;
  const { link, home } = found;
  const nodes = [{ id: rootOf(flow), shard: home.name }, ...layout.nodes];
  return reportOf(flow, layout.nodes, await readStates(link, nodes, options));
}

/**
 * Reads what has become of nodes. One request, or one more for each 8,000.
 * @param deep for the deep sweep: nodes without one of their records count as not known
 */
export async function readStates(
  link: Link,
  nodes: readonly Pick<LayoutNode, "id" | "shard">[],
  options: RequestOptions,
  deep = false,
): Promise<Map<string, NodeStatus>> {
  const known = new Map<string, NodeStatus>();
  let missing = groupedBy(nodes, ({ shard }) => shard);
  while (missing.size > 0) {
    const calls = Array.from(missing, ([name, nodes]) =>
      slicesOf(nodes, PER_CALL).map(([...ids]): ReadCall => {
        const args = { maxBytes: MAX_BYTES, deep: deep ? "1" : "" };
        return shardNamed(link, name).call(
          readNodesScript,
          args,
          ids.map(({ id }) => ({ id })),
        );
      }),
    ).flat();
    for (const slice of slicesOf(calls, PER_REQUEST))
      for (const found of await runAll(link.transport, slice, options))
        for (const status of found) known.set(status.id, status);
    const rest = [...missing.values()].flat().filter(({ id }) => !known.has(id));
    missing = groupedBy(rest, ({ shard }) => shard);
  }
  return known;
}

function reportOf(
  flow: string,
  nodes: readonly LayoutNode[],
  known: ReadonlyMap<string, NodeStatus>,
): FlowReport {
  const refs = new Map(nodes.map(({ id, ref }) => [id, ref]));
  const counts = Object.fromEntries(taskStates.map((state) => [state, 0])) as Record<TaskState, number>;
  const reports = nodes.flatMap((node): FlowNodeReport[] => {
    const { id, ref, kind, shard } = node;
    if (kind === "gate") return [];
    const { state = "", reason = "", because: cause = "" } = known.get(id) ?? {};
    if (kind === "task" && state !== "") counts[state]++;
    const because = reason === "dependency_failed" ? refs.get(cause) : undefined;
    const after = edgesOf(nodes, node).map(({ from, on }) => ({ ref: nodes[from]?.ref as string, on }));
    return [
      {
        ref,
        kind: kind === "task" ? "task" : "flow",
        ...(kind === "task" && { queue: readShardName(shard).queue, id }),
        state: state === "" ? null : state,
        ...(reason !== "" && { reason: reason as RejectReason }),
        ...(because !== undefined && { because }),
        after,
      },
    ];
  });
  const root = known.get(rootOf(flow));
  const [createdAt = "", endedAt = "", cancelled = "", home = ""] = (root?.more ?? "").split(" ");
  const hasEnded = root?.state === "completed" || root?.state === "rejected";
  return {
    id: flow,
    state: hasEnded ? root.state : "running",
    createdAt: Number(createdAt),
    ...(hasEnded && { endedAt: Number(endedAt) }),
    isCancelled: cancelled !== "",
    ...(home !== "" && { onFailure: "cancel" as const }),
    counts,
    nodes: reports,
  };
}

/** What a node waits for, also through gates. */
function edgesOf(nodes: readonly LayoutNode[], { after }: LayoutNode): readonly LayoutEdge[] {
  return after.flatMap((edge) => {
    const from = nodes[edge.from] as LayoutNode;
    return from.kind === "gate" ? edgesOf(nodes, from) : [edge];
  });
}
