/** Refuses groups whose order a flow could not keep. */
import { invalidArgument } from "../../errors.ts";
import { commandCall, runAll } from "../../kernel/call.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { readSettings } from "../../kernel/record/settings-record.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { FlowQueue } from "./flow-tasks.ts";
import type { FlowNode } from "./graph/flow-plan.ts";

/**
 * Checks that no task has a group in strict order in a divided queue: those of a flow are where the flow is, other
 * tasks of the group are where the group is. One request, if a task has a group in such a queue, or in one that
 * may have been divided without this process knowing: then the request fails, as calls on such a queue do.
 * @param sure a partition whose calls fail anyway if its queue was divided
 * @throws {SluiceError} `invalid_argument`
 */
export async function checkGroups<Q>(
  nodes: readonly FlowNode<Q>[],
  queues: readonly (FlowQueue | undefined)[],
  shards: ReadonlyMap<FlowQueue, Shard>,
  sure: Shard | undefined,
  options: RequestOptions,
): Promise<void> {
  const known = new Map<string, { group: string; path: string; shard: Shard }>();
  for (const [node, { task, path }] of nodes.entries()) {
    const shard = shards.get(queues[node] as FlowQueue);
    if (task?.group === undefined || !shard || (!shard.isPart && shard === sure)) continue;
    known.set(shard.isPart ? `${shard.name} ${task.group}` : shard.name, { group: task.group, path, shard });
  }
  const calls = Array.from(known.values(), ({ group, path, shard }) =>
    commandCall(["HMGET", shard.keys.tasks, "~set", `~s:${group}`], (reply) => ({
      path,
      settings: shard.isPart ? (reply as readonly (string | null)[]) : [],
    })),
  );
  const [first] = known.values();
  if (!first) return;
  for (const { path, settings } of await runAll(first.shard.queue.transport, calls, options)) {
    const [ofQueue, ofGroup] = settings.map((record) => (record ? readSettings(record).order : undefined));
    if ((ofGroup ?? ofQueue) === "1")
      throw invalidArgument(
        `${path}.group`,
        "is in strict order, which a flow keeps only in a queue that is not divided",
      );
  }
}
