import { isReference } from "../../kernel/record/envelope.ts";
import { nameOfShard, queueKeys } from "../../kernel/names/keys.ts";
import { namedPlace } from "../../kernel/names/slots.ts";
import { readFixed } from "../../kernel/record/read-record.ts";
import { QUEUE } from "../../kernel/options/validation.ts";
import { run } from "../../kernel/call.ts";
import { timeCall } from "../../kernel/lease/peek.ts";
import type { CommandOutcome, PlainCommand } from "../../kernel/transport.ts";
import type { OrphanPassOptions, OrphanReport } from "./types.ts";
import { readArea } from "./areas.ts";
import { type ObjectOwner, objectsOf, positionKey, readKey } from "./object-keys.ts";
import { readReference } from "./reference.ts";
import { sha256Of, type StoreRequests } from "./store-requests.ts";

/**
 * The age from which an object is removed if no task needs it, ms. An enqueue writes the object before the task, so
 * this must be longer than any enqueue takes, including copies of its request that arrive late.
 */
const GRACE = 3_600_000;

/** From the end of the store to the next pass from its beginning, ms. */
const REST = 600_000;

/** Most records that one command reads. */
const RECORDS_PER_COMMAND = 100;

/** An object that may be an orphan. */
interface Candidate extends ObjectOwner {
  readonly key: string;
}

/**
 * Finds objects that no task needs, a page of the store in each pass. An object of the store has the position,
 * `<epoch ms> <key>`: the time of the last pass, and the key after which the next page begins. No key: the last pass
 * was at the end of the store.
 */
export class OrphanPass {
  readonly #requests: StoreRequests;

  constructor(requests: StoreRequests) {
    this.#requests = requests;
  }

  /** @throws {SluiceError} `offload_failed`, or a fault of the transport */
  async run(options: OrphanPassOptions): Promise<OrphanReport> {
    const { transport, prefix, signal, until } = options;
    const area = await readArea({ transport, prefix }, { signal });
    const [last, after] = await this.#position(prefix, area);
    const now = await timeOf(options);
    const none = { checked: 0, removed: 0 };
    if (after === "" && now - last < REST) return none;
    const page = await this.#requests.list(objectsOf(prefix, area), after || undefined);
    const candidates = page.objects
      .filter(({ writtenAt }) => writtenAt < now - GRACE)
      .flatMap(({ key }) => ({ ...readKey(key), key }))
      .filter((one): one is Candidate => one.queue !== undefined && QUEUE.test(one.queue));
    const orphans = await this.#orphansAmong(candidates, options);
    // The next pass begins with the same page.
    if (performance.now() >= until) return none;
    await this.#requests.delete(orphans.map(({ key }) => key));
    const position = new TextEncoder().encode(`${now} ${page.next ?? ""}`);
    await this.#requests.put(positionKey(prefix, area), position, await sha256Of(position));
    return { checked: page.objects.length, removed: orphans.length };
  }

  async #position(prefix: string | undefined, area: string): Promise<readonly [last: number, after: string]> {
    const stored = await this.#requests.get(positionKey(prefix, area));
    const [last = "", after = ""] = stored ? new TextDecoder().decode(stored).split(" ") : [];
    return [Number(last), after];
  }

  async #orphansAmong(candidates: readonly Candidate[], options: OrphanPassOptions): Promise<Candidate[]> {
    const { transport, prefix, signal } = options;
    if (candidates.length === 0) return [];
    const places = await options.placesOf([...new Set(candidates.map(({ queue }) => queue))], options);
    const reads = slicesOf(candidates).map((slice) => {
      const ids = slice.map(({ id }) => id);
      const { queue = "" } = slice[0] ?? {};
      const named = ids.flatMap((id) => namedPlace(id) ?? []);
      const known = places.get(queue);
      const own = new Set([...(known ?? []), ...named]);
      const names = known?.length === 0 ? [queue] : Array.from(own, (place) => nameOfShard(queue, place));
      const commands = (known ? names : []).map((name): PlainCommand => {
        return ["HMGET", queueKeys(name, prefix).tasks, ...ids];
      });
      return { slice, isKnown: known !== undefined, commands };
    });
    const commands = reads.flatMap((read) => read.commands);
    const outcomes = commands.length > 0 ? await transport.send(commands, { signal }) : [];
    let from = 0;
    return reads.flatMap(({ slice, isKnown, commands: own }) => {
      const found = outcomes.slice(from, (from += own.length)).map(recordsIn);
      // Only if each partition has answered, and none needs the object.
      return slice.filter(({ name }, k) => isKnown && found.every((records) => !mayNeed(records[k], name)));
    });
  }
}

/** Objects of one queue each, in slices that one command can check. */
function slicesOf(candidates: readonly Candidate[]): Candidate[][] {
  const slices: Candidate[][] = [];
  for (const one of candidates) {
    const slice = slices.at(-1);
    if (slice?.[0]?.queue === one.queue && slice.length < RECORDS_PER_COMMAND) slice.push(one);
    else slices.push([one]);
  }
  return slices;
}

/** Empty if the records could not be read. */
function recordsIn(outcome: CommandOutcome | undefined): readonly (string | null)[] {
  return outcome && "reply" in outcome && Array.isArray(outcome.reply) ? outcome.reply : [];
}

/**
 * Whether a task with the record may need an object. One of another version may, and one whose record could not be
 * read.
 */
function mayNeed(record: string | null | undefined, name: string): boolean {
  // The task has ended and keeps no payload, or its record has expired.
  if (record === "" || record === null) return false;
  if (record === undefined) return true;
  try {
    const { payload } = readFixed(record);
    return isReference(payload) && readReference(payload).name === name;
  } catch {
    return true;
  }
}

/** The time of the scripts, epoch ms. */
async function timeOf({ transport, signal, now }: OrphanPassOptions): Promise<number> {
  return now ? now() : run(transport, timeCall, { signal });
}
