import { slotOf } from "../core/partition-slots.ts";
import { groupedBy } from "../core/slices.ts";
import type { Partitions } from "../partitions/partitions.ts";
import type { PartitionMap } from "../partitions/map.ts";
import type { askFormerScript } from "../redis/partition-scripts.ts";
import type { Added, enqueueScript } from "../redis/task-scripts.ts";
import { ENQUEUE_ERRORS } from "./enqueue-errors.ts";
import type { EnqueueItem } from "./encode-tasks.ts";

/** The answer of one partition. A task that it was asked about, and does not know, has none. */
export type PartitionReply = ReturnType<typeof enqueueScript.decode | typeof askFormerScript.decode>;

/** The tasks of one call that go to the same partition. */
interface PartitionPart {
  readonly partition: number;
  readonly items: readonly EnqueueItem[];
  /**
   * The version of the map, and the slots that the partition must own, as the script takes them. Undefined only asks
   * what the partition knows.
   */
  readonly slots: string | undefined;
}

/** Sends tasks to partitions, in one request. @returns one reply for each part */
export type SendToPartitions = (parts: readonly PartitionPart[]) => Promise<readonly PartitionReply[]>;

/** A task on its way, and its place in the call. */
interface PlacedItem {
  readonly item: EnqueueItem;
  readonly slot: number | undefined;
  readonly place: number;
}

/** What an enqueue to partitions needs. */
interface AddOptions {
  readonly partitions: Partitions;
  readonly send: SendToPartitions;
  readonly signal: AbortSignal | undefined;
  /** Whether the tasks were sent before, to the queue's own keys. @default false */
  readonly isResent?: boolean | undefined;
  /** Whether a task that no partition may have is refused alone. @default all are refused */
  readonly refusesEach?: boolean | undefined;
}

/**
 * Adds tasks to the partitions that own their slots, in one request. If a slot has changed hands, it reads the
 * map again, and sends the tasks of that partition again, to another one. Partitions that once owned the slots
 * are first asked whether they know the ids and dedup keys, in a request of its own.
 * @returns as one call of the script
 * @throws {SluiceError} `invalid_argument` if no partition may have a task; if a partition refuses its tasks. Those of other partitions may have been added
 */
export async function addToPartitions(
  items: readonly EnqueueItem[],
  { partitions, send, signal, isResent, refusesEach }: AddOptions,
): Promise<{ added: Added[]; wake: boolean }> {
  const added: Added[] = [];
  let wake = false;
  let map = await partitions.map(signal);
  let rest = items.map((item, place): PlacedItem => {
    const { placedBy } = item;
    return { item, place, slot: placedBy === undefined ? undefined : slotOf(placedBy) };
  });
  // Who knew of the partitions has checked it.
  for (const { item, slot, place } of isResent ? rest : []) {
    if (!isMisplaced(item, slot)) continue;
    const at = items.length > 1 ? `tasks[${place}].` : "";
    if (!refusesEach) throw ENQUEUE_ERRORS.misplaced(partitions.name, at);
    added[place] = { refused: "misplaced" };
  }
  rest = rest.filter(({ place }) => added[place] === undefined);
  for (let tries = 1; rest.length > 0; tries++) {
    if (map.former.length > 0) {
      // After `moved` also a generated id may be known: an earlier copy of the request, whose reply was lost, may
      // have added it before the slot changed hands.
      const asked = isResent || tries > 1 ? rest : rest.filter(({ item }) => isKnowable(item));
      const wakeThere = await askFormer(asked, map, added, { partitions, send });
      wake ||= wakeThere;
      rest = rest.filter(({ place }) => added[place] === undefined);
    }
    const groups = Array.from(groupedBy(rest, ({ item, slot }) => partitions.ownerOf(item.id, slot, map)));
    const { version } = map;
    const replies = await sendGroups(groups, send, (own) => {
      // Redis has lost the whole change meanwhile.
      if (version === 0) return "";
      const slots = [...new Set(own.flatMap(({ slot }) => slot ?? []))];
      return slots.length > 0 ? `${version}:${slots.join()}` : "-";
    });
    rest = [];
    for (const [i, { refused, wake: wakeHere, tasks }] of replies.entries()) {
      const own = groups[i]?.[1] ?? [];
      wake ||= wakeHere;
      if (refused === "moved") rest.push(...own);
      else if (!refused) for (const [j, { place }] of own.entries()) added[place] = tasks[j] as Added;
      const isFull =
        refused === "full" || tasks.some((one) => one && "refused" in one && one.refused === "full");
      if (isFull) partitions.noteFull(groups[i]?.[0] as number, refused ? own.length : 1);
      if (refused && refused !== "moved") throw ENQUEUE_ERRORS[refused](partitions.name);
    }
    if (rest.length > 0) map = await partitions.refresh(map, tries, signal);
  }
  return { added, wake };
}

/**
 * Answers the tasks that partitions know which once owned their slots, and those that begin a new life there. What
 * is not known there stays so, because the slots are sealed.
 * @returns whether the caller must wake a consumer
 */
async function askFormer(
  items: readonly PlacedItem[],
  { owners, former }: PartitionMap,
  added: Added[],
  { partitions, send }: Pick<AddOptions, "partitions" | "send">,
): Promise<boolean> {
  const asked = new Map<number, PlacedItem[]>();
  for (const placed of items) {
    const owner = placed.slot === undefined ? undefined : owners[placed.slot];
    if (owner === undefined) continue;
    const others = former.filter((partition) => partition !== owner);
    // One of the others may have its dedup key, and the owner its id, which decides.
    const partitions = others.length > 0 && hasDedupKey(placed.item) ? [...others, owner] : others;
    for (const partition of partitions) asked.set(partition, [...(asked.get(partition) ?? []), placed]);
  }
  if (asked.size === 0) return false;
  const groups = Array.from(asked);
  const replies = await sendGroups(groups, send, () => undefined);
  for (const [i, { refused, tasks }] of replies.entries()) {
    if (refused && refused !== "moved") throw ENQUEUE_ERRORS[refused](partitions.name);
    for (const [j, { place }] of (groups[i]?.[1] ?? []).entries()) {
      const answer = tasks[j];
      if (!answer) continue;
      const isOfId = "refused" in answer || answer.id === undefined;
      if (isOfId || added[place] === undefined) added[place] = answer;
    }
  }
  return replies.some((reply) => reply.wake);
}

/** Whether a task has an id of the caller's and a dedup key that have different slots. */
function isMisplaced({ id, unique, placedBy }: EnqueueItem, slot: number | undefined): boolean {
  const key = /^\d+ (.*)$/.exec(unique)?.[1];
  return key !== undefined && placedBy === id && slotOf(key) !== slot;
}

/** Whether an earlier task may have the same id, or its dedup key. */
function isKnowable({ unique, record }: EnqueueItem): boolean {
  return unique !== "" || /^[^\n]*;t=/.test(record);
}

const hasDedupKey = ({ unique }: EnqueueItem): boolean => /^\d+ /.test(unique);

function sendGroups(
  groups: readonly (readonly [number, readonly PlacedItem[]])[],
  send: SendToPartitions,
  slots: (own: readonly PlacedItem[]) => string | undefined,
): Promise<readonly PartitionReply[]> {
  return send(
    groups.map(([partition, own]) => ({
      partition,
      items: own.map(({ item }) => item),
      slots: slots(own),
    })),
  );
}
