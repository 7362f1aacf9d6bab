/** Adding tasks to the partitions that own their slots. */
import { type Call, runAll } from "../../kernel/call.ts";
import { addCall, asArguments, learning } from "../../kernel/enqueue/add.ts";
import { encoded } from "../../kernel/enqueue/encoded.ts";
import { MAX_SHARDS, slotOf } from "../../kernel/names/slots.ts";
import type { Added } from "../../kernel/scripts/enqueue-script.ts";
import type { Shard } from "../../kernel/shard.ts";
import { groupedBy } from "../../kernel/slices.ts";
import type { AddBatch, AddedTask, AddReply, Adds, Draft, Item } from "../../kernel/store.ts";
import type { PartitionMap } from "./map.ts";
import { askFormerScript } from "./partition-scripts.ts";
import type { Partitions } from "./partitions.ts";
import { NewTaskPlacement, placedBy, slotOfTask } from "./placement.ts";

/** A task on its way, and the place of its draft. */
interface PlacedItem {
  readonly item: Item;
  readonly slot: number | undefined;
  readonly place: number;
}

/**
 * What adds tasks to the partitions of a queue.
 * @param onUse called with each shard to which tasks are sent. @default none
 */
export function addsTo(partitions: Partitions, onUse?: (shard: Shard) => void): Adds["add"] {
  const placement = new NewTaskPlacement((partition) => partitions.isDown(partition));
  return (batch) => new Adding(batch, partitions, placement, onUse).run();
}

/** A batch on its way. */
class Adding {
  readonly #batch: AddBatch;
  readonly #partitions: Partitions;
  readonly #placement: NewTaskPlacement;
  readonly #onUse: ((shard: Shard) => void) | undefined;
  /** What has become of the tasks so far, by the places of their drafts. */
  readonly #items: (Item | undefined)[];
  readonly #added: (AddedTask | undefined)[];
  #wake = false;

  constructor(
    batch: AddBatch,
    partitions: Partitions,
    placement: NewTaskPlacement,
    onUse: ((shard: Shard) => void) | undefined,
  ) {
    this.#batch = batch;
    this.#partitions = partitions;
    this.#placement = placement;
    this.#onUse = onUse;
    this.#items = batch.drafts.map(() => undefined);
    this.#added = batch.drafts.map(() => undefined);
  }

  /**
   * Adds the tasks, in one request. If the partition that was chosen for tasks which may be in any has no room, they go
   * to another one, under other ids: a refused enqueue of such tasks has added none.
   * @throws {SluiceError} `invalid_argument` if no partition may have a task
   */
  async run(): Promise<AddReply> {
    const { drafts, refuseEach, signal } = this.#batch;
    let places = [...drafts.keys()];
    let { ids } = this.#batch;
    for (let left = MAX_SHARDS; ; left--) {
      await this.#addSome(places, ids);
      places = places.filter((place) => isFull(this.#added[place]) && mayBeAnywhere(drafts[place] as Draft));
      if (places.length === 0 || left === 0 || !(refuseEach || places.length === drafts.length)) break;
      const map = await this.#partitions.map(signal);
      if (this.#placement.open(refuseEach ? 1 : places.length, map).length === 0) break;
      for (const place of places) this.#added[place] = undefined;
      ids = undefined;
    }
    return { items: this.#items, added: this.#added as AddedTask[], wake: this.#wake, after: [] };
  }

  async #addSome(places: readonly number[], chosen: readonly string[] | undefined): Promise<void> {
    const { drafts, refuseEach, signal, isAgain = false } = this.#batch;
    const map = await this.#partitions.map(signal);
    const newId = this.#placement.newIds(places.length, map);
    const placed: number[] = [];
    const ids: string[] = [];
    const slots: (number | undefined)[] = [];
    for (const place of places) {
      const draft = drafts[place] as Draft;
      try {
        const slot = slotOfTask(draft, draft.path);
        // Without a tag: a copy of the call from before the queue had partitions has the same id.
        const id = chosen?.[place] ?? draft.id ?? (await draft.derivedId?.()) ?? newId(slot);
        slots[place] = slot ?? (draft.derivedId && slotOf(id));
        ids.push(id);
        placed.push(place);
      } catch (failed) {
        if (!refuseEach) throw failed;
        this.#added[place] = { failed };
      }
    }
    const found = await encoded(this.#batch, placed, ids);
    for (const [place, failed] of found.added.entries()) if (failed) this.#added[place] = failed;
    const items = found.items.map((item, i): PlacedItem => {
      const place = found.places[i] as number;
      this.#items[place] = item;
      return { item, place, slot: slots[place] };
    });
    await this.#send(items, map, chosen !== undefined && isAgain);
  }

  /**
   * Sends tasks to the owners of their slots. If a slot has changed hands, it reads the map again, and sends the tasks
   * of that partition again, to another one. Partitions that once owned the slots are first asked whether they know
   * the ids and dedup keys, in a request of its own.
   * @param isResent whether the tasks were sent before, to the queue's own keys
   */
  async #send(items: readonly PlacedItem[], known: PartitionMap, isResent: boolean): Promise<void> {
    const partitions = this.#partitions;
    const { refuseEach, wakeWindow, signal } = this.#batch;
    let rest = [...items];
    let map = known;
    for (let tries = 1; rest.length > 0; tries++) {
      if (map.former.length > 0) {
        // After `moved` also a generated id may be known: an earlier copy of the request, whose reply was lost, may
        // have added it before the slot changed hands.
        const asked = isResent || tries > 1 ? rest : rest.filter(({ item }) => isKnowable(item));
        await this.#askFormer(asked, map);
        rest = this.#unlessRefused(rest.filter(({ place }) => this.#added[place] === undefined));
      }
      const groups = groupedBy(rest, ({ item, slot }) => partitions.ownerOf(item.id, slot, map));
      const { version } = map;
      const replies = await this.#exchange(groups, (shard, own) => {
        this.#onUse?.(shard);
        const items = own.map(({ item }) => item);
        return addCall(shard, items, { refuseEach, wakeWindow, slots: slotsText(version, own) });
      });
      rest = [];
      for (const { partition, own, reply } of replies) {
        const { refused, tasks } = reply;
        if (refused === "moved") rest.push(...own);
        else
          for (const [j, { place }] of own.entries()) this.#added[place] = refused ? { refused } : tasks[j];
        if (refused === "full" || tasks.some(isFull))
          this.#placement.noteFull(partition, refused ? own.length : 1);
      }
      rest = this.#unlessRefused(rest);
      if (rest.length > 0) map = await partitions.refresh(map, tries, signal);
    }
  }

  /** Those of the tasks that are still to be sent: none if a partition has refused the call, and they are of one. */
  #unlessRefused(rest: PlacedItem[]): PlacedItem[] {
    const refused = this.#batch.refuseEach
      ? undefined
      : this.#added.find((added) => added && "refused" in added);
    if (!refused) return rest;
    for (const { place } of rest) this.#added[place] = refused;
    return [];
  }

  /**
   * Answers the tasks that partitions know which once owned their slots, and those that begin a new life there. What
   * is not known there stays so, because the slots are sealed.
   */
  async #askFormer(items: readonly PlacedItem[], { owners, former }: PartitionMap): Promise<void> {
    const asked = items.flatMap((placed) => {
      const owner = placed.slot === undefined ? undefined : owners[placed.slot];
      if (owner === undefined) return [];
      const others = former.filter((partition) => partition !== owner);
      // One of the others may have its dedup key, and the owner its id, which decides.
      const partitions = others.length > 0 && hasDedupKey(placed.item) ? [...others, owner] : others;
      return partitions.map((partition) => ({ ...placed, partition }));
    });
    const groups = groupedBy(asked, ({ partition }) => partition);
    const replies = await this.#exchange(groups, (shard, own) => askCall(shard, own, this.#batch));
    for (const { own, reply } of replies) {
      for (const [j, { place }] of own.entries()) {
        // A task that it does not know has no answer.
        const answer: Added | undefined = reply.refused ? { refused: reply.refused } : reply.tasks[j];
        if (!answer) continue;
        const isOfId = "refused" in answer || answer.id === undefined;
        if (isOfId || this.#added[place] === undefined) this.#added[place] = answer;
      }
    }
  }

  /** Sends one call to each partition, in one request. */
  async #exchange<Reply extends { readonly wake: boolean }>(
    groups: ReadonlyMap<number, readonly PlacedItem[]>,
    callOf: (shard: Shard, own: readonly PlacedItem[]) => Call<Reply>,
  ) {
    const { signal, onSend } = this.#batch;
    const calls = Array.from(groups, ([partition, own]) => callOf(this.#partitions.shard(partition), own));
    const replies = await runAll(this.#partitions.queue.transport, calls, { signal, onSend });
    this.#wake ||= replies.some(({ wake }) => wake);
    return Array.from(groups, ([partition, own], i) => ({ partition, own, reply: replies[i] as Reply }));
  }
}

/** The call that asks a partition what it knows of tasks. */
function askCall(shard: Shard, own: readonly PlacedItem[], { refuseEach, wakeWindow = "" }: AddBatch) {
  const items = own.map(({ item }) => item);
  // Only to ask does not use it. But a dead letter may begin a new life there.
  const note = items.some(({ unique }) => unique === "again") ? shard.note() : undefined;
  const args = { wake: wakeWindow, refuseEach: refuseEach ? "1" : "" } as const;
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
