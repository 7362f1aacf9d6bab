import { commandCall, run } from "../../kernel/call.ts";
import type { Shard } from "../../kernel/shard.ts";
import { blankDuplicatesScript, placeLostScript } from "./repair-scripts.ts";
import { slicesOf } from "../../kernel/slices.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import type { ExpiredTask } from "../../kernel/record/dead-letter.ts";
import type { Fault } from "../../kernel/errors/faults.ts";

/** Entries of the list that one command reads. */
const LIST_PAGE = 5_000;

/** Ids that one script call repairs. */
export const MAX_REPAIRED = 100;

/** Duplicates that one script call blanks, beside the entries that are kept. */
const MAX_BLANKED = 50;

/** How many entries the script searches for one that has moved since it was read. */
const REACH = 256;

/** The reach of a second search, one id a call, and the most such searches of one comparison. */
const FAR_REACH = 5_000;
const MAX_FAR_SEARCHES = 50;

/** What the scripts report of a repair. */
export interface Repaired {
  readonly faults: readonly { readonly fault: Fault; readonly id: string }[];
  /** Tasks without a lease that had no attempt left. */
  readonly deadLetters?: readonly ExpiredTask[];
}

/** What the list must hold of an id, by the record of its task. */
export interface ExpectedEntry {
  readonly id: string;
  readonly ghosts: number;
  readonly waits: number;
  /** Proves to the script that the record is unchanged. */
  readonly witness: string;
}

/** An id with the positions at which the list holds it, from the left. */
interface ListedId extends ExpectedEntry {
  readonly positions: number[];
}

/** An entry of the list, as the script takes it. */
interface ListEntry {
  readonly id: string;
  readonly index: string;
}

/** How many entries an id should have. */
const expectedCount = ({ ghosts, waits }: ExpectedEntry) => ghosts + waits;

/** Compares the list of pending ids with the records, and repairs the list. */
export class ListRepair {
  /** Ghosts and blanks that the repairs added. */
  ghostsAdded = 0;
  /** Ghosts that the repairs dropped. */
  ghostsDropped = 0;
  readonly #shard: Shard;
  readonly #options: SendOptions;
  readonly #report: (repaired: Repaired) => void;

  /** @param report receives what the scripts repaired */
  constructor(shard: Shard, options: SendOptions, report: (repaired: Repaired) => void) {
    this.#shard = shard;
    this.#options = options;
    this.#report = report;
  }

  /**
   * Blanks duplicates in the list, then adds what it lacks.
   * @throws {SluiceError} for a fault of the transport
   */
  async repair(expected: readonly ExpectedEntry[]): Promise<void> {
    const entries = await this.#locate(expected);
    // Duplicates first: additions move the other entries.
    const duplicated = entries.filter((entry) => entry.positions.length > expectedCount(entry));
    await this.#blankDuplicates(duplicated.filter((entry) => expectedCount(entry) < MAX_REPAIRED));
    await this.#placeLost(entries.filter((entry) => entry.positions.length < expectedCount(entry)));
  }

  /**
   * Finds the ids in the list. It reads from the left, where entries are added, so it misses none that stays.
   */
  async #locate(expected: readonly ExpectedEntry[]): Promise<readonly ListedId[]> {
    const entries = expected.map((entry): ListedId => ({ ...entry, positions: [] }));
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    for (let first = 0, page: readonly string[] = [""]; page.length > 0; first += page.length) {
      const last = first + LIST_PAGE - 1;
      const { keys, queue } = this.#shard;
      const call = commandCall(
        ["LRANGE", keys.pending, String(first), String(last)],
        (reply) => reply as readonly string[],
      );
      page = await run(queue.transport, call, this.#options);
      for (const [i, id] of page.entries()) byId.get(id)?.positions.push(first + i);
    }
    return entries;
  }

  /** Adds entries that the list lacks. */
  async #placeLost(entries: readonly ListedId[]): Promise<void> {
    for (const slice of slicesOf(entries, MAX_REPAIRED)) {
      const items = slice.map(({ id, witness, positions }) => ({
        id,
        witness,
        seen: String(positions.length),
      }));
      const call = this.#shard.call(placeLostScript, {}, items);
      const repaired = await run(this.#shard.queue.transport, call, this.#options);
      this.#report(repaired);
      this.ghostsAdded += repaired.ghosts;
      this.ghostsDropped += repaired.dropped;
    }
  }

  /** Overwrites surplus entries with blanks. */
  async #blankDuplicates(entries: readonly ListedId[]): Promise<void> {
    const moved: ListEntry[][] = [];
    let batch: ListEntry[][] = [];
    const flush = async () => {
      const found = await this.#blank(batch.flat(), REACH);
      let next = 0;
      for (const items of batch) {
        if (found.slice(next, (next += items.length)).includes(false)) moved.push(items);
      }
      batch = [];
    };
    for (const entry of entries) {
      // The entries nearest to delivery are kept, and go along with each slice of the others.
      const kept = entry.positions.slice(-expectedCount(entry));
      const surplus = entry.positions.slice(0, -expectedCount(entry));
      for (const slice of slicesOf(surplus, MAX_BLANKED)) {
        batch.push([...slice, ...kept].map((index) => ({ id: entry.id, index: String(index) })));
        if (batch.flat().length >= MAX_BLANKED) await flush();
      }
    }
    if (batch.length > 0) await flush();
    for (const items of moved.slice(0, MAX_FAR_SEARCHES)) await this.#blank(items.slice(-4), FAR_REACH);
  }

  /** @returns for each entry whether the script found it within reach */
  async #blank(items: readonly ListEntry[], reach: number): Promise<readonly boolean[]> {
    const call = this.#shard.call(blankDuplicatesScript, { reach: String(reach) }, items);
    const repaired = await run(this.#shard.queue.transport, call, this.#options);
    this.#report(repaired);
    this.ghostsAdded += repaired.ghosts;
    return repaired.found;
  }
}
