import { invalidArgument } from "../../errors.ts";
import { MAX_BATCH } from "../options/limits.ts";
import { groupedBy } from "../slices.ts";
import { listOf } from "../options/validation.ts";

/** What a receipt is written from. */
export interface Lease {
  readonly id: string;
  /** The attempt; `<attempt>,<charged attempts>,<expired leases>` if that says more. */
  readonly delivery: number | string;
  /** Number of the lease, from a counter of the queue that never repeats. */
  readonly lease: number;
  readonly token: string;
  /** The place of the shard that has the task. @default 0 */
  readonly place?: number | undefined;
}

/** The lease that a receipt proves. */
export interface ProvenLease extends Pick<Lease, "id" | "lease" | "token"> {
  readonly place: number;
  readonly attempt: number;
  /** The attempts that count towards `maxAttempts`, this one included. */
  readonly charged: number;
}

const RECEIPT =
  /^(?:1|2\.([1-9]\d?))\.(\d{1,15})(?:,(\d{1,15}),\d{1,15})?\.(\d{1,15})\.([A-Za-z0-9_-]{8,64})\.([A-Za-z0-9][!-~]{0,127})$/;

/** The receipt of a task of which a lease has expired since a holder last settled it. */
const SUSPECT = /^(?:1|2\.\d+)\.\d+,\d+,[1-9]/;

/** The receipt of a lease: an opaque text with which the holder settles the task. */
export function writeReceipt({ id, delivery, lease, token, place }: Lease): string {
  const form = place ? `2.${place}` : "1";
  return `${form}.${delivery}.${lease}.${token}.${id}`;
}

/** Whether a lease of the task expired before, perhaps because the task killed its process. */
export function isSuspect(receipt: string): boolean {
  return SUSPECT.test(receipt);
}

/**
 * The lease that a receipt proves.
 * @param path of the receipt, for errors
 * @throws {SluiceError} `invalid_argument` if it is not a receipt
 */
export function readReceipt(receipt: unknown, path: string): ProvenLease {
  const match = typeof receipt === "string" ? RECEIPT.exec(receipt) : null;
  if (!match) {
    throw invalidArgument(path, "must be a receipt that dequeue returned");
  }
  const [, place = "0", attempt = "", charged = attempt, lease, token = "", id = ""] = match;
  return {
    id,
    attempt: Number(attempt),
    charged: Number(charged),
    lease: Number(lease),
    token,
    place: Number(place),
  };
}

/** Whether a receipt names a place, because that is above 0. */
export function namesPlace(receipt: unknown): boolean {
  return typeof receipt === "string" && receipt.startsWith("2.");
}

/** A lease of a heartbeat, as the script takes it. */
export interface NamedLease {
  readonly id: string;
  readonly lease: string;
  readonly token: string;
}

/**
 * The leases of a heartbeat's receipts, each once, by the places of their shards.
 * @throws {SluiceError} `invalid_argument`
 */
export function readReceipts(receipts: readonly string[]): Map<number, NamedLease[]> {
  listOf(receipts, "receipts", MAX_BATCH);
  const leases = new Map(receipts.map((receipt, i) => [receipt, readReceipt(receipt, `receipts[${i}]`)]));
  const byPlace = groupedBy([...leases.values()], ({ place }) => place);
  const named = ({ id, lease, token }: ProvenLease) => ({ id, lease: String(lease), token });
  return new Map(Array.from(byPlace, ([place, own]) => [place, own.map(named)]));
}
