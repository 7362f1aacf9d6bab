/** Adding tasks to the partitions that own their slots. */
import { addCall, asArguments, learning } from "../../kernel/enqueue/add.ts";
import { type Call, exchange } from "../../kernel/call.ts";
import { encoded } from "../../kernel/enqueue/encoded.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { AddBatch, AddedTask, AddReply, Draft, Item } from "../../kernel/store.ts";
import { MAX_SHARDS, slotOf } from "../../kernel/names/slots.ts";
import { groupedBy } from "../../kernel/slices.ts";
import { askFormerScript } from "./partition-scripts.ts";
import type { Added } from "../../kernel/scripts/enqueue-script.ts";
import type { PartitionMap } from "./map.ts";
import type { Partitions } from "./partitions.ts";
import { NewTaskPlacement, placedBy, slotOfTask } from "./placement.ts";

/** A task on its way, and the place of its draft. */
interface PlacedItem {
  readonly item: Item;
  readonly slot: number | undefined;
  readonly place: number;
}

/** What has become of the tasks of a batch so far, by the places of their drafts. */
interface Progress {
  readonly items: (Item | undefined)[];
  readonly added: (AddedTask | undefined)[];
  wake: boolean;
}

/** Adds the tasks of a queue to its partitions. */
export class PartitionAdds {
  readonly #partitions: Partitions;
  readonly #placement = new NewTaskPlacement();
  readonly #onUse: ((shard: Shard) => void) | undefined;

  /** @param onUse called with each shard to which tasks are sent. @default none */
  constructor(partitions: Partitions, onUse?: (shard: Shard) => void) {
    this.#partitions = partitions;
    this.#onUse = onUse;
  }

  /**
   * Adds tasks, in one request. If the partition that was chosen for tasks which may be in any has no room, they go to
   * another one, under other ids: a refused enqueue of such tasks has added none.
   * @throws {SluiceError} `invalid_argument` if no partition may have a task
   */
  async add(batch: AddBatch): Promise<AddReply> {
    const { drafts, signal } = batch;
    const none = Array<undefined>(drafts.length).fill(undefined);
    const progress: Progress = { items: [...none], added: [...none], wake: false };
    let places: readonly number[] = drafts.map((_, place) => place);
    let { ids } = batch;
    for (let left = MAX_SHARDS; ; left--) {
      await this.#addSome(batch, places, ids, progress);
      const full = places.filter((place) => isFull(progress.added[place]));
      places = full.filter((place) => mayBeAnywhere(drafts[place] as Draft));
      if (places.length === 0 || left === 0 || !(batch.alone || places.length === drafts.length)) break;
      if (!(await this.#partitions.mayHaveRoom(batch.alone ? 1 : places.length, signal))) break;
      for (const place of places) progress.added[place] = undefined;
      ids = undefined;
    }
    return { ...progress, added: progress.added as AddedTask[], after: [] };
  }

  async #addSome(
    batch: AddBatch,
    places: readonly number[],
    chosen: readonly string[] | undefined,
    progress: Progress,
  ): Promise<void> {
    const { drafts, alone, signal } = batch;
    const { added } = progress;
    const partitions = this.#partitions;
    const map = await partitions.map(signal);
    const { newId } = this.#placement.placing(places.length, map, (partition) =>
      partitions.shuns(partition, places.length),
    );
    const placed: number[] = [];
    const ids: string[] = [];
    for (const place of places) {
      const draft = drafts[place] as Draft;
      try {
        const slot = slotOfTask(draft, draft.path);
        // Without a tag: a copy of the call from before the queue had partitions has the same id.
        ids.push(chosen?.[place] ?? draft.id ?? (await draft.derivedId?.()) ?? newId(slot));
        placed.push(place);
      } catch (failed) {
        if (!alone) throw failed;
        added[place] = { failed };
      }
    }
    const found = await encoded(batch, placed, ids);
    for (const [place, failed] of found.added.entries()) if (failed) added[place] = failed;
    const rest = found.items.map((item, i): PlacedItem => {
      const place = found.places[i] as number;
      progress.items[place] = item;
      const draft = drafts[place] as Draft;
      const text = placedBy(draft) ?? (draft.derivedId && item.id);
      return { item, place, slot: text === undefined ? undefined : slotOf(text) };
    });
    await this.#send(batch, rest, map, progress, chosen !== undefined && batch.isAgain === true);
  }

  /**
   * Sends tasks to the owners of their slots. If a slot has changed hands, it reads the map again, and sends the tasks
   * of that partition again, to another one. Partitions that once owned the slots are first asked whether they know
   * the ids and dedup keys, in a request of its own.
   * @param isResent whether the tasks were sent before, to the queue's own keys
   */
  async #send(
    batch: AddBatch,
    items: readonly PlacedItem[],
    known: PartitionMap,
    progress: Progress,
    isResent: boolean,
  ): Promise<void> {
    const { added } = progress;
    const partitions = this.#partitions;
    let rest = [...items];
    let map = known;
    for (let tries = 1; rest.length > 0; tries++) {
      if (map.former.length > 0) {
        // After `moved` also a generated id may be known: an earlier copy of the request, whose reply was lost, may
        // have added it before the slot changed hands.
        const asked = isResent || tries > 1 ? rest : rest.filter(({ item }) => isKnowable(item));
        await this.#askFormer(batch, asked, map, progress);
        rest = rest.filter(({ place }) => added[place] === undefined);
      }
      const groups = Array.from(groupedBy(rest, ({ item, slot }) => partitions.ownerOf(item.id, slot, map)));
      const { version } = map;
      const { alone, wake } = batch;
      const replies = await this.#exchange(batch, groups, (shard, own) => {
        this.#onUse?.(shard);
        const items = own.map(({ item }) => item);
        return addCall(shard, items, { alone, wake, slots: slotsText(version, own) });
      });
      rest = [];
      for (const [i, { refused, wake, tasks }] of replies.entries()) {
        const [partition, own] = groups[i] as (typeof groups)[number];
        progress.wake ||= wake;
        if (refused === "moved") rest.push(...own);
        else for (const [j, { place }] of own.entries()) added[place] = refused ? { refused } : tasks[j];
        if (refused === "full" || tasks.some(isFull))
          partitions.noteFull(partition, refused ? own.length : 1);
      }
      if (rest.length > 0) map = await partitions.refresh(map, tries, batch.signal);
    }
  }

  /**
   * Answers the tasks that partitions know which once owned their slots, and those that begin a new life there. What
   * is not known there stays so, because the slots are sealed.
   */
  async #askFormer(
    batch: AddBatch,
    items: readonly PlacedItem[],
    { owners, former }: PartitionMap,
    progress: Progress,
  ): Promise<void> {
    const { added } = progress;
    const asked = new Map<number, PlacedItem[]>();
    for (const placed of items) {
      const owner = placed.slot === undefined ? undefined : owners[placed.slot];
      if (owner === undefined) continue;
      const others = former.filter((partition) => partition !== owner);
      // One of the others may have its dedup key, and the owner its id, which decides.
      const partitions = others.length > 0 && hasDedupKey(placed.item) ? [...others, owner] : others;
      for (const partition of partitions) asked.set(partition, [...(asked.get(partition) ?? []), placed]);
    }
    const groups = Array.from(asked);
    const replies = await this.#exchange(batch, groups, (shard, own) => askCall(shard, own, batch));
    for (const [i, { refused, tasks, wake }] of replies.entries()) {
      progress.wake ||= wake;
      for (const [j, { place }] of (groups[i]?.[1] ?? []).entries()) {
        // A task that it does not know has no answer.
        const answer: Added | undefined = refused ? { refused } : tasks[j];
        if (!answer) continue;
        const isOfId = "refused" in answer || answer.id === undefined;
        if (isOfId || added[place] === undefined) added[place] = answer;
      }
    }
  }

  /** Sends one call to each partition, in one request. */
  async #exchange<Reply>(
    { signal, onSend }: AddBatch,
    groups: readonly (readonly [number, readonly PlacedItem[]])[],
    callOf: (shard: Shard, own: readonly PlacedItem[]) => Call<Reply>,
  ): Promise<Reply[]> {
    const calls = groups.map(([partition, own]) => callOf(this.#partitions.shard(partition), own));
    const replies = await exchange(this.#partitions.queue.transport, calls, { signal, onSend });
    return replies.map((reply) => reply());
  }
}

/** The call that asks a partition what it knows of tasks. */
function askCall(shard: Shard, own: readonly PlacedItem[], { alone, wake = "" }: AddBatch) {
  const items = own.map(({ item }) => item);
  // Only to ask does not use it. But a dead letter may begin a new life there.
  const note = items.some(({ unique }) => unique === "again") ? shard.note() : undefined;
  const args = { wake, refuseEach: alone ? "1" : "" } as const;
  return learning(shard.call(askFormerScript, args, items.map(asArguments), note));
}

/** The version of the map, and the slots that a partition must own, as the script takes them. */
function slotsText(version: number, own: readonly PlacedItem[]): string {
  // Redis has lost the whole change meanwhile.
  if (version === 0) return "";
  const slots = [...new Set(own.flatMap(({ slot }) => slot ?? []))];
  return slots.length > 0 ? `${version}:${slots.join()}` : "-";
}

const isFull = (added: AddedTask | undefined): boolean =>
  added !== undefined && "refused" in added && added.refused === "full";

/** Whether any partition may have a task. */
const mayBeAnywhere = (draft: Draft): boolean =>
  placedBy(draft) === undefined && draft.derivedId === undefined;

/** Whether an earlier task may have the same id, or its dedup key. */
function isKnowable({ unique, front }: Item): boolean {
  return unique !== "" || /^[^\n]*;t=/.test(front);
}

const hasDedupKey = ({ unique }: Item): boolean => /^\d+ /.test(unique);
