import { run } from "../../kernel/call.ts";
import type { Shard } from "../../kernel/shard.ts";
import { GroupCount } from "./group-count.ts";
import { type OnDeadLetter, reportExpired } from "../../kernel/record/dead-letter.ts";
import type { Findings } from "../../sweep/deep-part.ts";
import { type ExpectedEntry, ListRepair, MAX_REPAIRED, type Repaired } from "./list-repair.ts";
import { recountGroupsScript, repairControlScript, scanScript } from "./repair-scripts.ts";
import { slicesOf } from "../../kernel/slices.ts";
import type { SendOptions } from "../../kernel/transport.ts";

/**
 * The parts of a queue's keys in the order of the pass. If a repair removes an entry from one part, a later
 * part shows what the task lacks then.
 */
const SCANNED_PARTS = [
  "working",
  "fair",
  "limited",
  "fair-by-group",
  "delayed",
  "dead",
  "expiry",
  "worker-leases",
  "workers",
  "pending",
  "tasks",
] as const;

type ScannedPart = (typeof SCANNED_PARTS)[number];

/** How far a pass through a queue has come: a part, and a scan cursor within that part. */
export interface Position {
  readonly part: ScannedPart;
  readonly cursor: string;
}

export function isScannedPart(text: string): text is ScannedPart {
  return (SCANNED_PARTS as readonly string[]).includes(text);
}

export const START: Position = { part: SCANNED_PARTS[0], cursor: "0" };

export function isStart({ part, cursor }: Position): boolean {
  return part === START.part && cursor === START.cursor;
}

/** Bytes of records, and entries, that one scan aims for: more would keep Redis busy for too long. */
const PAGE_BYTES = 4_000_000;
const PAGE_ENTRIES = 400;

/** Entries of the first page of records: all of them may need a repair, which takes longer. */
const FIRST_RECORDS = 100;

/** Most ids that are compared with the list at once. Further ids are compared with the whole list again. */
const MAX_EXPECTED = 100_000;

/** Most tasks of groups that are counted. If there are more, the states of groups stay as they are. */
const MAX_MEMBERS = 400_000;

/**
 * A control field that counts what was added, its counterpart for what was removed, and the true difference.
 */
interface ControlCount {
  readonly field: string;
  readonly added: number;
  readonly removed: number;
  readonly count: number;
}

interface PassOptions extends SendOptions {
  readonly onDeadLetter?: OnDeadLetter | undefined;
  /** Most ids that are compared with the list at once; in tests fewer. */
  readonly maxExpected?: number | undefined;
}

/**
 * One pass through one partition of a queue: page by page through each part, then the records against the list as a whole.
 */
export class DeepPass {
  readonly #shard: Shard;
  readonly #findings: Findings;
  readonly #options: PassOptions;
  readonly #list: ListRepair;
  /** Entries that the next scan reads. */
  #size = 16;
  /** Whether the queue has records of a newer release. */
  #hasNewer = false;
  /** How many slices of the records were compared with the list. */
  #slices = 0;
  /** Ghosts that the scans added. */
  #ghostsScanned = 0;
  /** Ghosts that the records had before the repairs. */
  #ghostsBefore = 0;
  readonly #timers = new Set<string>();
  /** Nodes of flows that have not ended. */
  readonly #nodes = new Set<string>();

  readonly #maxExpected: number;

  constructor(shard: Shard, options: PassOptions, findings: Findings) {
    this.#shard = shard;
    this.#maxExpected = options.maxExpected ?? MAX_EXPECTED;
    this.#findings = findings;
    this.#options = options;
    this.#list = new ListRepair(shard, options, (repaired) => this.#report(repaired));
  }

  /**
   * Continues from a position, by at least one step.
   * @returns the position at which the next pass continues; null at the end of the queue
   * @throws {SluiceError} for a fault of the queue or the transport
   */
  async continueFrom(from: Position, timeIsUp: () => boolean): Promise<Position | null> {
    const before = await this.#repairControl("", []);
    for (let position: Position | null = from; position !== null;) {
      const { part, cursor }: Position = position;
      const next: string = part === "tasks" ? await this.#compare(cursor) : await this.#scanPart(position);
      const nextPart: ScannedPart | undefined = SCANNED_PARTS[SCANNED_PARTS.indexOf(part) + 1];
      if (next !== "0") position = { part, cursor: next };
      else position = nextPart === undefined ? null : { part: nextPart, cursor: "0" };
      if (position !== null && timeIsUp()) return position;
    }
    const added = this.#ghostsAdded;
    const dropped = this.#list.ghostsDropped;
    const counts = [
      {
        field: "~ghosts",
        added: before.ghosts.added + added,
        removed: before.ghosts.removed + dropped,
        count: this.#ghostsBefore + added - dropped,
      },
      { field: "~timers", ...before.timers, count: this.#timers.size },
      { field: "~broken", ...before.broken, count: 0 },
      { field: "~nodes", ...before.nodes, count: this.#nodes.size },
    ];
    // The counts are true only if this pass saw the whole queue, and compared all its records at once.
    const complete = isStart(from) && this.#slices === 1 && !this.#hasNewer;
    await this.#repairControl(before.deletion, complete ? counts : []);
    return null;
  }

  /** Ghosts that this pass has added so far. */
  get #ghostsAdded(): number {
    return this.#ghostsScanned + this.#list.ghostsAdded;
  }

  #report({ faults, deadLetters = [] }: Repaired): void {
    reportExpired(this.#options.onDeadLetter, this.#shard.queue.name, deadLetters);
    for (const { fault, id } of faults) {
      if (fault === "record_newer") this.#hasNewer = true;
      this.#findings.found(fault, id);
    }
  }

  /** @param deletion the last deletion of the queue before the counts; empty in the first call of a pass */
  async #repairControl(deletion: string, counts: readonly ControlCount[]) {
    const items = counts.map(({ field, added, removed, count }) => ({
      field,
      added: String(added),
      removed: String(removed),
      count: String(count),
    }));
    const call = this.#shard.call(repairControlScript, { deletion }, items);
    const control = await run(this.#shard.queue.transport, call, this.#options);
    this.#report(control);
    return control;
  }

  /** Scans a page of a part, and adapts the size of the next. */
  async #scanPage({ part, cursor }: Position) {
    if (part === "tasks" && cursor === "0") this.#size = Math.min(this.#size, FIRST_RECORDS);
    const call = this.#shard.call(scanScript, { part, cursor, size: String(this.#size) });
    const page = await run(this.#shard.queue.transport, call, this.#options);
    this.#report(page);
    this.#findings.checked(page.entries);
    this.#ghostsScanned += page.ghosts;
    // An empty part says nothing about the size of records. A page of the hash may hold only control fields.
    if (page.entries > 0 || page.cursor !== "0") {
      const affordable = Math.floor((PAGE_BYTES * Math.max(1, page.entries)) / Math.max(1, page.bytes));
      // Entries of groups, long records and repairs take longer.
      const work = page.entries + page.members.length / 2 + page.bytes / 1_000 + 8 * page.faults.length;
      const quick = Math.floor((PAGE_ENTRIES * Math.max(1, page.entries)) / Math.max(1, work));
      this.#size = Math.max(1, Math.min(quick, 16 * this.#size, affordable));
    }
    return page;
  }

  /** Scans a page of any part except the records. @returns the cursor of the next page */
  async #scanPart(position: Position): Promise<string> {
    const page = await this.#scanPage(position);
    for (const timer of page.timers) this.#timers.add(timer);
    return page.cursor;
  }

  /**
   * Scans as many records as can be compared at once. Then compares them with the list, and with the states
   * of groups.
   * @returns the cursor of the next records
   */
  async #compare(from: string): Promise<string> {
    const expected = new Map<string, ExpectedEntry>();
    const groups = new Map<string, string>();
    let cursor = from;
    do {
      const page = await this.#scanPage({ part: "tasks", cursor });
      for (const entry of page.expected) expected.set(entry.id, entry);
      for (const id of page.nodes) this.#nodes.add(id);
      // A group with a line is there twice.
      for (const { name, state } of page.groups) groups.set(name, state || (groups.get(name) ?? ""));
      for (const { group } of page.members) if (!groups.has(group)) groups.set(group, "");
      cursor = page.cursor;
    } while (cursor !== "0" && expected.size < this.#maxExpected);
    const entries = [...expected.values()];
    this.#slices++;
    this.#ghostsBefore = entries.reduce((sum, { ghosts }) => sum + ghosts, 0) - this.#ghostsAdded;
    if (entries.length > 0) await this.#list.repair(entries);
    if (groups.size > 0 && !this.#hasNewer) await this.#recountGroups(groups);
    return cursor;
  }

  /**
   * Corrects the states of groups.
   * @param recorded the state of each group before; empty if it has none
   */
  async #recountGroups(recorded: ReadonlyMap<string, string>): Promise<void> {
    const uncounted = Array.from(recorded, ([name, before]) => ({ name, before, state: "" }));
    if (await this.#writeGroups(uncounted, "")) return;
    // The queue is too large for the script to count, so the count is made here. A state never repeats: if it
    // is unchanged, the count is right. A group without a state may appear and end meanwhile: two counts must
    // agree.
    const first = await this.#countGroups();
    const names = [...new Set([...recorded.keys(), ...first.keys()])];
    const hasState = (name: string) => (recorded.get(name) ?? "") !== "";
    const second = names.some((name) => !hasState(name) && first.has(name))
      ? await this.#countGroups()
      : first;
    const certain = names.filter((name) => hasState(name) || first.get(name) === second.get(name));
    const items = certain.map((name) => {
      return { name, before: recorded.get(name) ?? "", state: first.get(name) ?? "" };
    });
    if (first.size > 0 && !this.#hasNewer) await this.#writeGroups(items, "1");
  }

  /**
   * @param counted "1" if the items have the states to write; empty if the script is to count
   * @returns false if there are too many tasks for the script to count
   */
  async #writeGroups(
    items: readonly { name: string; before: string; state: string }[],
    counted: string,
  ): Promise<boolean> {
    for (const slice of slicesOf(items, MAX_REPAIRED)) {
      const call = this.#shard.call(recountGroupsScript, { counted }, slice);
      const reply = await run(this.#shard.queue.transport, call, this.#options);
      if (reply === null) return false;
      this.#report(reply);
    }
    return true;
  }

  /** Computes the states of groups from their tasks; empty if there are more tasks than fit into memory. */
  async #countGroups(): Promise<Map<string, string>> {
    const count = new GroupCount();
    for (const part of ["fair", "working"] as const) {
      let cursor = "0";
      do {
        const page = await this.#scanPage({ part, cursor });
        for (const member of page.members) count.add(member);
        cursor = page.cursor;
        if (count.size > MAX_MEMBERS) return new Map();
      } while (cursor !== "0");
    }
    return count.states();
  }
}
