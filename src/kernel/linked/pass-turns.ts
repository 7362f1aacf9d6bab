/**
 * Lets groups in strict order go on whose slots have changed hands. Of such a group one partition has the turn, and its
 * line in all others is held: lua/order.md says how.
 */
import { type Call, commandCall, run, runAll } from "../call.ts";
import { unescaped } from "../options/validation.ts";
import { nameOfShard } from "../names/keys.ts";
import { slotOf } from "../names/slots.ts";
import { Shard } from "../shard.ts";
import { groupedBy, slicesOf } from "../slices.ts";
import type { DividedQueue, PassTurns, Reply, SlotMap } from "../transport.ts";
import { holdLinesScript, listLinesScript } from "./hold-scripts.ts";

/** How many groups one call or command has. */
const GROUPS_PER_CALL = 100;
const GROUPS_PER_READ = 500;

/** How many fields a page of lines passes over: few of them are lines, so the replies are short. */
const FIELDS_PER_PAGE = "10000";

/** Most rounds of one call. Three are enough if nothing else happens meanwhile. */
const MAX_ROUNDS = 6;

/** A line as `~o:<group>` describes it. */
interface Line {
  /** Empty if it is not held; a number that is used once; or the turn of another partition, `<partition>,<its hold>`. */
  readonly hold: string;
  readonly hasHead: boolean;
}

interface LineName {
  /** The partition. */
  readonly place: number;
  readonly group: string;
}

type HeldLine = Line & LineName;

/** A change of a hold. */
interface Change extends LineName {
  readonly was: string;
  readonly hold: string;
}

/**
 * Sees to the groups of a queue that are held: passes the turn to the next partition if the one that had it has ended
 * its tasks. While a change of the partitions is prepared, no former partition gets a turn.
 */
export const passTurns: PassTurns = async (
  queue,
  map,
  wake = "",
  onWake,
  until = Number.POSITIVE_INFINITY,
) => {
  if (map.former.length === 0) return false;
  if (map.next && !map.isPreparing) return true;
  const first = new Shard(queue, 0, nameOfShard(queue.name, 0));
  const set = commandCall(["HGET", first.keys.tasks, "~set"], (reply) => (reply as string | null) ?? "");
  if (!/;o=/.test(await run(queue.transport, set, queue))) return false;
  const pass = new Pass(queue, map, wake, until);
  const isWaiting = await pass.run();
  if (pass.wakes) onWake?.();
  return isWaiting;
};

class Pass {
  readonly #queue: DividedQueue;
  readonly #map: SlotMap;
  readonly #shards: ReadonlyMap<number, Shard>;
  readonly #wakeWindow: string;
  readonly #until: number;
  #wakes = false;

  constructor(queue: DividedQueue, map: SlotMap, wake: string, until: number) {
    this.#queue = queue;
    this.#map = map;
    this.#wakeWindow = wake;
    this.#until = until;
    const all = [...new Set([...map.owners, ...map.former])];
    this.#shards = new Map(all.map((one) => [one, new Shard(queue, one, nameOfShard(queue.name, one))]));
  }

  /** Whether a consumer must be woken. */
  get wakes(): boolean {
    return this.#wakes;
  }

  /** @returns whether groups wait for a partition that does not own their slot */
  async run(): Promise<boolean> {
    // From now on no call that began before the change was prepared counts. One that was called off has a version, too.
    if (this.#map.isPreparing && !(await this.#step([...new Set(this.#map.owners)], "prepare"))) return true;
    for (let round = 0; round < MAX_ROUNDS && performance.now() < this.#until; round++) {
      const unchecked = await this.#unchecked();
      if (unchecked.length > 0 && !(await this.#check(unchecked))) break;
      const held = await this.#held();
      const changes = await this.#changesOf(held);
      if (changes.length === 0) {
        const isWaiting = ({ place, group, hold }: HeldLine) =>
          isTurn(hold) || place === this.#ownerOf(group);
        return held.some(isWaiting);
      }
      if (!(await this.#change(changes))) break;
    }
    return true;
  }

  /** The partitions that hold the lines of all groups in slots that they have just got. */
  async #unchecked(): Promise<number[]> {
    const calls = Array.from(this.#shards.values(), ({ keys }) =>
      commandCall(["HGET", keys.tasks, "~moved"], (reply) =>
        /^1;\d+;\w+;0*[1-9a-f]/.test((reply as string | null) ?? ""),
      ),
    );
    const found = await runAll(this.#queue.transport, calls, this.#queue);
    return [...this.#shards.keys()].filter((_, i) => found[i]);
  }

  /**
   * Holds the groups in partitions with new slots on whose tasks others still work, and lets all other groups go on.
   * What others have cannot become more: there these groups begin held.
   * @returns whether that is done
   */
  async #check(unchecked: readonly number[]): Promise<boolean> {
    const changes: Change[] = [];
    for (const [place, shard] of this.#shards) {
      const groups = await this.#linesOf(shard);
      if (!groups) return false;
      const hold = `${place},v${this.#map.version}`;
      for (const group of groups) {
        const owner = this.#ownerOf(group);
        if (owner !== place && unchecked.includes(owner))
          changes.push({ place: owner, group, was: "*", hold });
      }
    }
    return (await this.#change(changes)) && this.#step(unchecked, "checked");
  }

  /** The groups of a partition whose lines are not held; undefined if the time is up. */
  async #linesOf(shard: Shard): Promise<ReadonlySet<string> | undefined> {
    let groups = new Set<string>();
    for (let cursor = "0", redisRun = ""; performance.now() < this.#until;) {
      const call = shard.call(listLinesScript, { cursor, size: FIELDS_PER_PAGE });
      const page = await run(this.#queue.transport, call, this.#queue);
      if (cursor !== "0" && page.run !== redisRun) {
        // After a restart of Redis the rest may lack some.
        groups = new Set();
        cursor = "0";
        continue;
      }
      for (const group of page.groups) groups.add(group);
      if (page.cursor === "0") return groups;
      [cursor, redisRun] = [page.cursor, page.run];
    }
    return undefined;
  }

  /** All lines that are held. */
  async #held(): Promise<HeldLine[]> {
    const names: LineName[] = [];
    for (const [place, { keys }] of this.#shards) {
      for (let after = "", isLast = false; !isLast;) {
        const page = commandCall(
          ["ZRANGE", keys.fairByGroup, `(~~~${after}`, "+", "BYLEX", "LIMIT", "0", String(GROUPS_PER_READ)],
          (reply) => (reply as string[]).map((member) => member.slice(3)),
        );
        const groups = await run(this.#queue.transport, page, this.#queue);
        names.push(...groups.map((group) => ({ place, group })));
        isLast = groups.length < GROUPS_PER_READ;
        after = groups.at(-1) ?? "";
      }
    }
    const lines = await this.#read(names);
    return names.flatMap((name) => {
      const line = lines.get(nameOf(name));
      return line?.hold ? [{ ...name, ...line }] : [];
    });
  }

  /** Reads lines that exist, by their names. */
  async #read(names: readonly LineName[]): Promise<ReadonlyMap<string, Line>> {
    const found = new Map<string, Line>();
    const calls: Call<void>[] = [];
    for (const [place, own] of groupedBy(names, (name) => name.place)) {
      for (const slice of slicesOf(own, GROUPS_PER_READ)) {
        const fields = slice.map(({ group }) => `~o:${group}`);
        const note = (reply: Reply) => {
          for (const [i, text] of (reply as (string | null)[]).entries())
            if (text !== null) found.set(nameOf(slice[i] as LineName), readLine(text));
        };
        calls.push(commandCall(["HMGET", this.#shard(place).keys.tasks, ...fields], note));
      }
    }
    await runAll(this.#queue.transport, calls, this.#queue);
    return found;
  }

  /** How the turn is to be passed on. */
  async #changesOf(held: readonly HeldLine[]): Promise<Change[]> {
    // The line that decides: of the partition whose turn it is, or of the owner.
    const decisive = held.map(({ group, hold }) => ({
      group,
      place: isTurn(hold) ? Number(hold.split(",", 1)[0]) : this.#ownerOf(group),
    }));
    const others = await this.#read(decisive.filter(({ place }) => this.#shards.has(place)));
    return held.flatMap((line, i): Change[] => {
      const { place, group, hold } = line;
      const owner = this.#ownerOf(group);
      const other = others.get(nameOf(decisive[i] as LineName));
      const lift = { place, group, was: hold, hold: "" };
      if (isTurn(hold)) return isOver(hold, other) ? [lift] : [];
      if (place === owner) return [lift];
      const turn = `${place},${hold}`;
      if (other?.hold === turn) return other.hasHead ? [] : [lift];
      if (other?.hold || this.#map.next) return [];
      return [{ place: owner, group, was: "", hold: turn }];
    });
  }

  /** @returns whether all partitions know the same map */
  #change(changes: readonly Change[]): Promise<boolean> {
    const version = String(this.#map.version);
    // A former partition may have noted an older map. What it is to lift names a hold that it has once.
    const isOwn = ({ place, group }: Change) => place === this.#ownerOf(group);
    const calls = Array.from(
      groupedBy(changes, (change) => `${change.place} ${isOwn(change)}`).values(),
      (own) =>
        slicesOf(own, GROUPS_PER_CALL).map((slice) => {
          const [first] = slice as [Change];
          const shard = this.#shard(first.place);
          const note = slice.some(({ hold }) => hold === "") ? shard.note() : undefined;
          const args = { version: isOwn(first) ? version : "", step: "", wake: this.#wakeWindow };
          return shard.call(holdLinesScript, args, slice, note);
        }),
    ).flat();
    return this.#send(calls);
  }

  /** Sends partitions which step has been reached. @returns whether all of them know the same map */
  #step(places: readonly number[], step: "prepare" | "checked"): Promise<boolean> {
    const args = { version: String(this.#map.version), step, wake: "" };
    return this.#send(places.map((place) => this.#shard(place).call(holdLinesScript, args)));
  }

  async #send(calls: readonly Call<boolean | undefined>[]): Promise<boolean> {
    let isCurrent = true;
    for (const reply of await runAll(this.#queue.transport, calls, this.#queue)) {
      isCurrent &&= reply !== undefined;
      this.#wakes ||= reply === true;
    }
    return isCurrent;
  }

  #ownerOf(group: string): number {
    return this.#map.owners[slotOf(unescaped(group))] as number;
  }

  #shard(place: number): Shard {
    return this.#shards.get(place) as Shard;
  }
}

const nameOf = ({ place, group }: LineName) => `${place} ${group}`;

const isTurn = (hold: string) => hold.includes(",");

/**
 * Whether a partition has ended the tasks for which it had the turn.
 * @param line its line now; undefined if it has none
 */
function isOver(turn: string, line: Line | undefined): boolean {
  if (!line) return true;
  return (
    line.hold !== "" && !isTurn(line.hold) && !line.hasHead && line.hold !== turn.slice(turn.indexOf(",") + 1)
  );
}

function readLine(text: string): Line {
  const [, hold = "", head] = /^1;\d+;\d+;\d+;s?(?:h([^;]*))?;(.*)$/.exec(text) ?? [];
  return { hold, hasHead: head !== undefined && head !== "" };
}
