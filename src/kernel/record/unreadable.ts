import type { SluiceError } from "../../errors.ts";

/** The errors of {@link asUnreadable}. Any other error may quote a value, even one with the same code. */
const unreadableErrors = new WeakSet<SluiceError>();

/** Marks an error as one that says why a value cannot be read, and does not quote it. */
export function asUnreadable(error: SluiceError): SluiceError {
  unreadableErrors.add(error);
  return error;
}

/** Whether an error says why a value cannot be decrypted or read from an object store, and does not quote it. */
export function isUnreadable(error: unknown): error is SluiceError {
  return unreadableErrors.has(error as SluiceError);
}
