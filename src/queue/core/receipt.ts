import { invalidArgument } from "../../errors.ts";
import { listOf } from "./validation.ts";

/** Most receipts that one call tells. */
export const MAX_RECEIPTS = 1_000;

/** What a receipt proves. */
export interface Lease {
  readonly id: string;
  readonly attempt: number;
  /** Number of the lease, from a counter of the queue that never repeats. */
  readonly lease: number;
  readonly token: string;
}

const RECEIPT = /^1\.(\d{1,15})\.(\d{1,15})\.([A-Za-z0-9_-]{8,64})\.([A-Za-z0-9][!-~]{0,127})$/;

/** The opaque text that a holder shows to settle a task. */
export function writeReceipt({ id, attempt, lease, token }: Lease): string {
  return `1.${attempt}.${lease}.${token}.${id}`;
}

/** @throws {SluiceError} `invalid_argument` where the text is no receipt */
export function readReceipt(receipt: unknown, path: string): Lease {
  const match = typeof receipt === "string" ? RECEIPT.exec(receipt) : null;
  if (!match) {
    throw invalidArgument(path, "must be a receipt as dequeue gave it");
  }
  const [, attempt, lease, token, id] = match as unknown as [string, string, string, string, string];
  return { id, attempt: Number(attempt), lease: Number(lease), token };
}

/**
 * The leases that a heartbeat tells, each once, as the script takes them.
 * @throws {SluiceError} `invalid_argument`
 */
export function leasesTold(receipts: readonly string[]): { id: string; lease: string; token: string }[] {
  listOf(receipts, "receipts", MAX_RECEIPTS);
  const leases = new Map(receipts.map((receipt, i) => [receipt, readReceipt(receipt, `receipts[${i}]`)]));
  return Array.from(leases.values(), ({ id, lease, token }) => ({ id, lease: String(lease), token }));
}
