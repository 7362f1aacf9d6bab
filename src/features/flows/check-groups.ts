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
 * tasks of the group are where the group is. One request, if a task has a group in such a queue.
 * @throws {SluiceError} `invalid_argument`
 */
export async function checkGroups<Q>(
  nodes: readonly FlowNode<Q>[],
  queues: readonly (FlowQueue | undefined)[],
  shards: ReadonlyMap<FlowQueue, Shard>,
  options: RequestOptions,
): Promise<void> {
  const grouped = nodes.flatMap(({ task, path }, node) => {
    const shard = shards.get(queues[node] as FlowQueue);
    return task?.group !== undefined && shard?.isPart ? [{ group: task.group, path, shard }] : [];
  });
  const [first] = grouped;
  if (!first) return;
  const known = new Map(grouped.map((one) => [`${one.shard.name} ${one.group}`, one]));
  const calls = Array.from(known.values(), ({ group, path, shard }) =>
    commandCall(["HMGET", shard.keys.tasks, "~set", `~s:${group}`], (reply) => ({
      path,
      settings: reply as readonly (string | null)[],
    })),
  );
  for (const { path, settings } of await runAll(first.shard.queue.transport, calls, options)) {
    const [ofQueue, ofGroup] = settings.map((record) => (record ? readSettings(record).order : undefined));
    if ((ofGroup ?? ofQueue) === "1")
      throw invalidArgument(
        `${path}.group`,
        "is in strict order, which a flow keeps only in a queue that is not divided",
      );
  }
}
