/** The map of a queue's partitions: which partition owns which slot. */
import { newerSchema, SluiceError } from "../../errors.ts";
import { digitOf, placeOf, SLOTS } from "../../kernel/names/slots.ts";

export interface PartitionMap {
  /** Rises with each change of an owner. */
  readonly version: number;
  /** The owner of each slot. */
  readonly owners: readonly number[];
  /** While slots change hands: their owners from then on. */
  readonly next: readonly number[] | undefined;
  /** Partitions that owned slots which others own now. They may still have tasks, and know ids. */
  readonly former: readonly number[];
  /** Whether new partitions lack the settings of the queue. The slots may not change hands yet. */
  readonly isPreparing: boolean;
  /** The map as it is stored; empty if the queue has none. */
  readonly text: string;
}

/** The map of a queue that was never partitioned: partition 0 owns all slots. */
export const UNPARTITIONED: PartitionMap = {
  version: 0,
  owners: Array<number>(SLOTS).fill(0),
  next: undefined,
  former: [],
  isPreparing: false,
  text: "",
};

const digits = (partitions: readonly number[]) => partitions.map(digitOf).join("");
const numbers = (text: string) => Array.from(text, placeOf);

/** Writes a map as it is stored, with a character for each partition. */
export function writeMap(map: Omit<PartitionMap, "text">): PartitionMap {
  const { version, owners, next = [], former, isPreparing } = map;
  const parts = ["1", version, digits(owners), digits(next), digits(former), isPreparing ? 1 : 0];
  return { ...map, text: parts.join(";") };
}

/**
 * Reads a stored map.
 * @param text null if the queue has none
 * @throws {SluiceError} `newer_schema`, or `unexpected_reply` if it is damaged
 */
export function readMap(text: string | null): PartitionMap {
  if (text === null || text === "") return UNPARTITIONED;
  if (/^\d+;/.test(text) && !text.startsWith("1;")) throw newerSchema("the map of a queue's partitions");
  const match = /^1;(\d{1,15});([0-9A-Za-z]{256});((?:[0-9A-Za-z]{256})?);([0-9A-Za-z]*);([01])$/.exec(text);
  if (!match) throw new SluiceError("unexpected_reply", "the map of a queue's partitions is damaged");
  const [, version, owners = "", next = "", former = "", isPreparing] = match;
  return {
    version: Number(version),
    owners: numbers(owners),
    next: next === "" ? undefined : numbers(next),
    former: numbers(former),
    isPreparing: isPreparing === "1",
    text,
  };
}

/** Partitions in order, each once. */
export function inOrder(partitions: readonly number[]): number[] {
  return [...new Set(partitions)].toSorted((one, other) => one - other);
}

/** The partitions that own slots, in order. */
export function owning(map: Pick<PartitionMap, "owners">): number[] {
  return inOrder(map.owners);
}

/** All partitions that may have tasks: those that own slots, did own some, or are about to. */
export function partitionsOf({ owners, next = [], former }: PartitionMap): number[] {
  return inOrder([...owners, ...next, ...former]);
}

/** The slots of a partition as it notes them: 64 hex digits, four slots in each, the lowest first. */
export function ownedText(owners: readonly number[], partition: number): string {
  let text = "";
  for (let first = 0; first < SLOTS; first += 4) {
    const bits = [0, 1, 2, 3].map((bit) => (owners[first + bit] === partition ? 2 ** bit : 0));
    text += bits.reduce((sum, bit) => sum + bit, 0).toString(16);
  }
  return text;
}

/**
 * The owners of slots if there are to be `count` partitions. A partition keeps the slots that it has, up to its
 * share.
 */
export function spread(owners: readonly number[], count: number): number[] {
  const free = Array.from({ length: count }, (_, partition) =>
    Math.floor((SLOTS + count - 1 - partition) / count),
  );
  const take = (partition: number) => (free[partition] ?? 0) > 0 && (free[partition] as number)-- > 0;
  const kept = owners.map((owner) => (take(owner) ? owner : undefined));
  return kept.map((owner) => owner ?? free.findIndex((_, partition) => take(partition)));
}
