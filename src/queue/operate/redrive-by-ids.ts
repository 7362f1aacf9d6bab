import { groupedBy } from "../core/slices.ts";
import type { redriveScript } from "../redis/operate-scripts.ts";

type RedriveReply = ReturnType<typeof redriveScript.decode>;
type Refusal = Exclude<RedriveReply["answers"][number], "redriven">;

interface RedriveItem {
  readonly id: string;
  readonly lease: string;
}

/**
 * Redrives tasks by their ids, each in the partition that has it.
 * @param havingTask the partitions that may have a task, the likeliest first
 * @param redrivePage redrives as many tasks of one partition as one call takes
 * @returns the tasks that were refused
 */
export async function redriveByIds(
  items: readonly RedriveItem[],
  havingTask: (id: string) => Promise<readonly number[]>,
  redrivePage: (partition: number, cursor: string, items: readonly RedriveItem[]) => Promise<RedriveReply>,
): Promise<{ id: string; code: Refusal }[]> {
  const refused = new Map<string, Refusal>();
  let placed = await Promise.all(
    items.map(async (item) => ({ item, partitions: await havingTask(item.id) })),
  );
  while (placed.length > 0) {
    const next: typeof placed = [];
    for (const [partition, own] of groupedBy(placed, ({ partitions }) => partitions[0] ?? 0)) {
      let rest = own;
      let cursor = "";
      while (rest.length > 0) {
        const reply = await redrivePage(
          partition,
          cursor,
          rest.map(({ item }) => item),
        );
        for (const [i, code] of reply.answers.entries()) {
          const [asked] = rest.slice(i, i + 1);
          if (code === "redriven" || !asked) continue;
          const others = asked.partitions.slice(1);
          if (code === "not_found" && others.length > 0) next.push({ item: asked.item, partitions: others });
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
