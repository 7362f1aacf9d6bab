/** Looks at values that may be sealed or elsewhere. It is loaded with the first of them. */
import { ENVELOPE_BASE64, isEnvelope, isReference } from "../record/envelope.ts";
import { refusalOf } from "./refusal.ts";

/**
 * A value that is stored as it is.
 * @throws {SluiceError} `undecryptable`, `offload_failed`
 */
export function openAsStored(kind: string, stored: unknown): unknown {
  const isSealed =
    kind === "progress"
      ? typeof stored === "string" && stored.startsWith(ENVELOPE_BASE64)
      : isEnvelope(stored);
  if (isSealed) throw refusalOf(kind, stored);
  return stored;
}

/**
 * A value for readers who have the keys themselves: also sealed.
 * @throws {SluiceError} `offload_failed`
 */
export function openSealed(kind: string, stored: unknown): unknown {
  if (isReference(stored)) throw refusalOf(kind, stored);
  return stored;
}
