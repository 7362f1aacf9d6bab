import type { Shard } from "../kernel/shard.ts";
import { groupedBy } from "../kernel/slices.ts";
import type { redriveScript } from "./operate-scripts.ts";

type RedriveReply = ReturnType<typeof redriveScript.decode>;
type Refusal = Exclude<RedriveReply["answers"][number], "redriven">;

interface RedriveItem {
  readonly id: string;
  readonly lease: string;
}

/**
 * Redrives tasks by their ids, each in the shard that has it.
 * @param havingTask the shards that may have a task, the likeliest first
 * @param redrivePage redrives as many tasks of one shard as one call takes
 * @returns the tasks that were refused
 */
export async function redriveByIds(
  items: readonly RedriveItem[],
  havingTask: (id: string) => Promise<readonly Shard[]>,
  redrivePage: (shard: Shard, cursor: string, items: readonly RedriveItem[]) => Promise<RedriveReply>,
): Promise<{ id: string; code: Refusal }[]> {
  const refused = new Map<string, Refusal>();
  let placed = await Promise.all(items.map(async (item) => ({ item, shards: await havingTask(item.id) })));
  while (placed.length > 0) {
    const next: typeof placed = [];
    for (const [shard, own] of groupedBy(placed, ({ shards }) => shards[0] as Shard)) {
      let rest = own;
      let cursor = "";
      while (rest.length > 0) {
        const reply = await redrivePage(
          shard,
          cursor,
          rest.map(({ item }) => item),
        );
        for (const [i, code] of reply.answers.entries()) {
          const [asked] = rest.slice(i, i + 1);
          if (code === "redriven" || !asked) continue;
          const others = asked.shards.slice(1);
          if (code === "not_found" && others.length > 0) next.push({ item: asked.item, shards: others });
          else refused.set(asked.item.id, code);
        }
        rest = rest.slice(reply.answers.length);
        cursor = reply.cursor;
      }
    }
    placed = next;
  }
  return items.flatMap(({ id }) => {
    const code = refused.get(id);
    return code === undefined ? [] : [{ id, code }];
  });
}
