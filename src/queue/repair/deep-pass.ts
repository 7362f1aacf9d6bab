import type { Fault } from "../core/faults.ts";
import { GroupCount } from "./group-count.ts";
import { QueueBase, type HandleOptions } from "../tasks/queue-base.ts";
import { lastReply } from "../redis/replies.ts";
import {
  scanScript,
  repairControlScript,
  recountGroupsScript,
  placeLostScript,
  blankDuplicatesScript,
} from "../redis/repair-scripts.ts";
import type { PlainCommand, SendOptions } from "../redis/transport.ts";

/** The order in which places are looked at: what is taken out of one is missed in a later one. */
const PLACES = [
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

type Place = (typeof PLACES)[number];

/** Where a pass through a queue stands: in a place, at a cursor of that place. */
export interface Stand {
  readonly place: Place;
  readonly scan: string;
}

export function isPlace(text: string): text is Place {
  return (PLACES as readonly string[]).includes(text);
}

export const FIRST: Stand = { place: PLACES[0], scan: "0" };

/** Most bytes of records, and most entries, that one call looks at: more would keep Redis busy for too long. */
const PAGE_BYTES = 4_000_000;
const MOST_ENTRIES = 400;

/** Ids that are compared with the list at once. More are compared in turns, each with the whole list. */
const MOST_EXPECTED = 100_000;

const LIST_PAGE = 5_000;

/** Tasks of groups that are counted. Where there are more, the states of groups are left as they are. */
const MOST_MEMBERS = 400_000;

/** Ids that one call repairs. */
const MOST_REPAIRED = 100;

/** A call that takes entries out of the list is sent once it has so many, and those that are kept beside them. */
const MOST_WEEDED = 50;

/** How far an entry of the list may have moved since it was seen. Those further are tried one by one. */
const REACH = 256;
const FAR_REACH = 5_000;
const MOST_FAR = 50;

/** What the list must hold of an id, and where it was seen there. */
interface Expected {
  readonly id: string;
  readonly ghosts: number;
  readonly waits: number;
  readonly witness: string;
  readonly places: number[];
}

const own = ({ ghosts, waits }: Expected) => ghosts + waits;

/** Where the findings of a pass go. */
export interface Findings {
  looked(entries: number): void;
  found(fault: Fault, id: string): void;
}

/** One pass through one queue: page by page through each place, then the records against the list as a whole. */
export class DeepPass extends QueueBase {
  readonly #findings: Findings;
  readonly #options: SendOptions;
  #size = 16;
  #metNewer = false;
  #turns = 0;
  /** Ghosts that this pass added and dropped, and how many there were before by the records. */
  #ghostsAdded = 0;
  #ghostsDropped = 0;
  #ghostsBefore = 0;
  readonly #timers = new Set<string>();

  constructor(name: string, options: HandleOptions & SendOptions, findings: Findings) {
    super(name, options);
    this.#findings = findings;
    this.#options = options;
  }

  /**
   * Goes on from where an earlier pass stood, one step at least.
   * @returns where to go on once time is up; null at the end
   */
  async goOn(from: Stand, timeIsUp: () => boolean): Promise<Stand | null> {
    const before = await this.#control("", []);
    const whole = from.place === FIRST.place && from.scan === FIRST.scan;
    for (let stand: Stand | null = from; stand !== null;) {
      const scan: string =
        stand.place === "tasks" ? await this.#compare(stand.scan) : await this.#look(stand);
      const next: Place | undefined = PLACES[PLACES.indexOf(stand.place) + 1];
      if (scan !== "0") stand = { place: stand.place, scan };
      else stand = next === undefined ? null : { place: next, scan: "0" };
      if (stand !== null && timeIsUp()) return stand;
    }
    // Only a pass that has counted all of them at once knows how many there are.
    const counts = [
      {
        field: "~ghosts",
        added: before.ghosts.added + this.#ghostsAdded,
        removed: before.ghosts.removed + this.#ghostsDropped,
        count: this.#ghostsBefore + this.#ghostsAdded - this.#ghostsDropped,
      },
      { field: "~timers", ...before.timers, count: this.#timers.size },
      { field: "~broken", ...before.broken, count: 0 },
    ];
    await this.#control(String(before.now), whole && this.#turns === 1 && !this.#metNewer ? counts : []);
    return null;
  }

  #note<T extends { faults: readonly { fault: Fault; id: string }[] }>(reply: T): T {
    for (const { fault, id } of reply.faults) {
      if (fault === "record_newer") this.#metNewer = true;
      this.#findings.found(fault, id);
    }
    return reply;
  }

  async #control(
    began: string,
    counts: readonly { field: string; added: number; removed: number; count: number }[],
  ) {
    const items = counts.map(({ field, added, removed, count }) => ({
      field,
      added: String(added),
      removed: String(removed),
      count: String(count),
    }));
    const args = { testNow: this.testNow(), began };
    return this.#note(await this.run(repairControlScript, args, items, this.#options));
  }

  async #audit({ place, scan }: Stand) {
    const args = { testNow: this.testNow(), part: place, cursor: scan, size: String(this.#size) };
    const page = this.#note(await this.run(scanScript, args, [], this.#options));
    this.#findings.looked(page.entries);
    this.#ghostsAdded += page.ghosts;
    // A page of the hash may hold notes of calls alone. A place that is empty tells nothing of the size of records.
    if (page.entries > 0 || page.cursor !== "0") {
      const affordable = Math.floor((PAGE_BYTES * Math.max(1, page.entries)) / Math.max(1, page.bytes));
      // What is in a group, has a long record or is repaired takes longer.
      const work = page.entries + page.members.length / 2 + page.bytes / 1_500 + 8 * page.faults.length;
      const quick = Math.floor((MOST_ENTRIES * Math.max(1, page.entries)) / Math.max(1, work));
      this.#size = Math.max(1, Math.min(quick, 16 * this.#size, affordable));
    }
    return page;
  }

  async #look(stand: Stand): Promise<string> {
    const page = await this.#audit(stand);
    for (const timer of page.timers) this.#timers.add(timer);
    return page.cursor;
  }

  /**
   * Looks at records, as many as may be compared at once, then compares what they say with the list, and with the
   * states of groups.
   * @returns the cursor behind them
   */
  async #compare(from: string): Promise<string> {
    const expected = new Map<string, Expected>();
    const groups = new Map<string, string>();
    let scan = from;
    do {
      const page = await this.#audit({ place: "tasks", scan });
      for (const entry of page.expected) expected.set(entry.id, { ...entry, places: [] });
      for (const { name, state } of page.groups) groups.set(name, state);
      for (const { group } of page.members) if (!groups.has(group)) groups.set(group, "");
      scan = page.cursor;
    } while (scan !== "0" && expected.size < MOST_EXPECTED);
    const entries = [...expected.values()];
    this.#turns++;
    this.#ghostsBefore = entries.reduce((sum, { ghosts }) => sum + ghosts, 0) - this.#ghostsAdded;
    if (entries.length > 0) {
      await this.#readList(expected);
      // Before anything is put into the list, which moves the others.
      const tooMany = entries.filter((entry) => entry.places.length > own(entry));
      await this.#weed(tooMany.filter((entry) => own(entry) < MOST_REPAIRED));
      await this.#repair(entries.filter((entry) => entry.places.length < own(entry)));
    }
    if (groups.size > 0 && !this.#metNewer) await this.#regroup(groups);
    return scan;
  }

  /** Notes where ids stand in the list. From the left, where entries come in: none that stays is missed. */
  async #readList(expected: ReadonlyMap<string, Expected>): Promise<void> {
    for (let first = 0, page: readonly string[] = [""]; page.length > 0; first += page.length) {
      const command: PlainCommand = [
        "LRANGE",
        this.keys.pending,
        String(first),
        String(first + LIST_PAGE - 1),
      ];
      page = lastReply(await this.transport.send([command], this.#options)) as readonly string[];
      for (const [i, id] of page.entries()) expected.get(id)?.places.push(first + i);
    }
  }

  /** Gives places to what the list lacks. */
  async #repair(entries: readonly Expected[]): Promise<void> {
    for (let first = 0; first < entries.length; first += MOST_REPAIRED) {
      const items = entries
        .slice(first, first + MOST_REPAIRED)
        .map(({ id, witness, places }) => ({ id, witness, seen: String(places.length) }));
      const args = { testNow: this.testNow() };
      const { ghosts, dropped } = this.#note(await this.run(placeLostScript, args, items, this.#options));
      this.#ghostsAdded += ghosts;
      this.#ghostsDropped += dropped;
    }
  }

  /** Takes out what the list has too often. */
  async #weed(entries: readonly Expected[]): Promise<void> {
    const moved: { id: string; index: string }[][] = [];
    let batch: { id: string; index: string }[][] = [];
    const flush = async () => {
      const found = await this.#weedOnce(batch.flat(), REACH);
      let next = 0;
      for (const items of batch) {
        if (found.slice(next, (next += items.length)).includes(false)) moved.push(items);
      }
      batch = [];
    };
    for (const entry of entries) {
      // Those that come out first are kept, and stand beside each slice of the others.
      const kept = entry.places.slice(-own(entry));
      const others = entry.places.slice(0, -own(entry));
      for (let first = 0; first < others.length; first += MOST_WEEDED) {
        const places = [...others.slice(first, first + MOST_WEEDED), ...kept];
        batch.push(places.map((index) => ({ id: entry.id, index: String(index) })));
        if (batch.flat().length >= MOST_WEEDED) await flush();
      }
    }
    if (batch.length > 0) await flush();
    for (const items of moved.slice(0, MOST_FAR)) await this.#weedOnce(items.slice(-4), FAR_REACH);
  }

  async #weedOnce(items: readonly { id: string; index: string }[], reach: number) {
    const args = { testNow: this.testNow(), reach: String(reach) };
    const { ghosts, found } = this.#note(await this.run(blankDuplicatesScript, args, items, this.#options));
    this.#ghostsAdded += ghosts;
    return found;
  }

  /** Corrects the states of groups. told: what they said before. */
  async #regroup(told: ReadonlyMap<string, string>): Promise<void> {
    const unknown = Array.from(told, ([name, before]) => ({ name, before, state: "" }));
    if (await this.#regroupAll(unknown, "")) return;
    // Too many for one look. A state is never the same twice: where it is unchanged, the count is right. A group without
    // one may have come and gone meanwhile: of that two counts have to agree.
    const once = await this.#countGroups();
    const names = [...new Set([...told.keys(), ...once.keys()])];
    const stateless = names.some((name) => (told.get(name) ?? "") === "" && once.has(name));
    const again = stateless ? await this.#countGroups() : once;
    const sure = names.filter((name) => (told.get(name) ?? "") !== "" || once.get(name) === again.get(name));
    const items = sure.map((name) => ({
      name,
      before: told.get(name) ?? "",
      state: once.get(name) ?? "",
    }));
    if (once.size > 0 && !this.#metNewer) await this.#regroupAll(items, "1");
  }

  /** False where there is too much for the script to count. */
  async #regroupAll(
    items: readonly { name: string; before: string; state: string }[],
    counted: string,
  ): Promise<boolean> {
    for (let first = 0; first < items.length; first += MOST_REPAIRED) {
      const args = { testNow: this.testNow(), counted };
      const slice = items.slice(first, first + MOST_REPAIRED);
      const reply = await this.run(recountGroupsScript, args, slice, this.#options);
      if (reply === null) return false;
      this.#note(reply);
    }
    return true;
  }

  /** The states that groups ought to have; none where there is more than fits into memory. */
  async #countGroups(): Promise<Map<string, string>> {
    const count = new GroupCount();
    for (const place of ["fair", "working"] as const) {
      let scan = "0";
      do {
        const page = await this.#audit({ place, scan });
        for (const member of page.members) count.add(member);
        scan = page.cursor;
        if (count.size > MOST_MEMBERS) return new Map();
      } while (scan !== "0");
    }
    return count.states();
  }
}
