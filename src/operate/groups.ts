import { onAll } from "../kernel/on-all.ts";
import { MAX_BATCH } from "../kernel/options/limits.ts";
import type { ListOptions, RequestOptions } from "../kernel/options/types.ts";
import {
  LIST_OPTIONS,
  onlyOptions,
  recordName,
  unescaped,
  wholeNumber,
} from "../kernel/options/validation.ts";
import { listGroupsScript } from "./operate-scripts.ts";
import { settingsScript } from "../kernel/scripts/settings-scripts.ts";
import type { OperatedQueue } from "./operated-queue.ts";
import { groupSettings, type GroupSettings } from "./settings.ts";
import { readOverShards } from "./shard-cursor.ts";

/** The settings of a group, and how many tasks it has. */
export interface GroupInfo extends GroupSettings {
  readonly queue: string;
  readonly group: string;
  /** Tasks that can be dequeued. */
  readonly ready: number;
  readonly working: number;
  /** Tasks that wait for the limits of the group. */
  readonly limited: number;
  /** In a group in strict order, tasks that wait until those before them have ended. */
  readonly inLine: number;
  /** The id of the dead letter that has stopped the group; null if none has. */
  readonly stoppedBy: string | null;
}

export interface GroupPage {
  readonly groups: readonly GroupInfo[];
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

/** Reads the settings of a group, and counts its tasks: see `Operator.groupSettings`. */
export async function readGroup(
  { store }: OperatedQueue,
  group: string,
  options: RequestOptions,
): Promise<GroupInfo> {
  const args = { group: recordName(group, "group") };
  const found = await onAll(store, (shard) => shard.call(settingsScript, args), options);
  const owner = await store.ownerOf(group, options);
  const counts = sumOfGroup(Array.from(found.values(), (part) => part.counts));
  const settings = groupSettings(found.get(owner.place)?.settings ?? {});
  return withReleased({ queue: store.queue.name, group, ...settings, ...counts });
}

/** Reads a page of the groups that have waiting tasks: see `Operator.groups`. */
export async function listGroups({ store }: OperatedQueue, options: ListOptions): Promise<GroupPage> {
  onlyOptions(options, LIST_OPTIONS);
  const size = wholeNumber(options.size ?? 100, "size", 1, MAX_BATCH);
  // A group has tasks in two shards while it goes to another one.
  const found = new Map<string, GroupInfo>();
  const cursor = await readOverShards(
    store,
    "groups",
    options,
    (shard, at) => shard.call(listGroupsScript, { cursor: at, size: String(size - found.size) }),
    ({ groups }) => {
      for (const { group: recorded, settings, counts } of groups) {
        const group = unescaped(recorded);
        const known = found.get(group);
        const sum = known ? sumOfGroup([known, counts]) : counts;
        found.set(group, { queue: store.queue.name, group, ...groupSettings(settings), ...sum });
      }
      return found.size >= size;
    },
  );
  return { groups: Array.from(found.values(), withReleased), cursor: cursor || null };
}

/** Whether tasks of a group may have to wait, though consumers ask for them. */
export const isLimited = ({
  paused,
  maxWorking,
  rate,
}: Pick<GroupSettings, "paused" | "maxWorking" | "rate">): boolean =>
  paused || maxWorking !== null || rate !== null;

/** After the last limit was removed, each dequeue releases a hundred of the tasks that waited for it: these are ready. */
const withReleased = (group: GroupInfo): GroupInfo =>
  isLimited(group) ? group : { ...group, ready: group.ready + group.limited, limited: 0 };

/** What a group's tasks do: all but its names and settings. */
type GroupCounts = Pick<GroupInfo, "ready" | "working" | "limited" | "inLine" | "stoppedBy">;

const sumOfGroup = (counts: readonly GroupCounts[]): GroupCounts => ({
  ready: counts.reduce((sum, { ready }) => sum + ready, 0),
  working: counts.reduce((sum, { working }) => sum + working, 0),
  limited: counts.reduce((sum, { limited }) => sum + limited, 0),
  inLine: counts.reduce((sum, { inLine }) => sum + inLine, 0),
  stoppedBy: counts.find(({ stoppedBy }) => stoppedBy !== null)?.stoppedBy ?? null,
});
