/** Why values cannot be opened. The errors do not quote them. */
import { SluiceError } from "../../errors.ts";
import { isReference, keyIdOf } from "../record/envelope.ts";
import { asUnreadable } from "../record/unreadable.ts";

const WITHOUT_OFFLOAD = "the payload is in an object store, and this queue has no offload";

/** The error for a value that is encrypted, or in an object store, and that a queue can only read as it is stored. */
export function refusalOf(kind: string, value: unknown): SluiceError {
  if (isReference(value)) return asUnreadable(new SluiceError("offload_failed", WITHOUT_OFFLOAD));
  return asUnreadable(undecryptable(kind, `it is ${describeKey(value)}, and this queue has no encryption`));
}

/** Describes how a value is encrypted. */
export function describeKey(envelope: unknown): string {
  const id = envelope instanceof Uint8Array ? keyIdOf(envelope) : undefined;
  return id === undefined ? "encrypted" : `encrypted with the key "${id}"`;
}

/** The error for a value that cannot be decrypted. */
export function undecryptable(kind: string, why: string): SluiceError {
  const what = kind === "schedule" ? "payload" : kind;
  return new SluiceError("undecryptable", `the ${what} cannot be decrypted: ${why}`);
}
