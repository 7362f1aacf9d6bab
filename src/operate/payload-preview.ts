import { fromBase64 } from "../base64.ts";
import { SluiceError } from "../errors.ts";
import { isEnvelope, isReference } from "../kernel/record/envelope.ts";
import { isUnreadable } from "../kernel/record/unreadable.ts";
import type { Values } from "../kernel/values/values.ts";

/** The most characters (code points) of a preview. */
const MOST = 200;

/** The beginning of a payload, or why there is none. */
export interface PayloadPreview {
  /** The first 200 characters of the payload as JSON, with `…` if it has more. */
  readonly preview?: string;
  /** The payload is bytes; it is encrypted, and is long or this queue has no key for it; it is in an object store. */
  readonly previewOmitted?: "bytes" | "encrypted" | "external";
}

/**
 * Makes the preview of a payload.
 * @param stored as the script `list` returns it: of JSON the beginning, of long bytes a few
 */
export async function previewOf(values: Values, id: string, stored: string): Promise<PayloadPreview> {
  if (stored === "") return {};
  if (stored.startsWith("j")) return { preview: beginningOf(stored.slice(1)) };
  const bytes = fromBase64(stored.slice(1));
  if (!isEnvelope(bytes)) return { previewOmitted: "bytes" };
  if (isReference(bytes)) return { previewOmitted: "external" };
  try {
    const payload = await values.open({ kind: "payload", id }, bytes);
    if (isEnvelope(payload)) return { previewOmitted: "encrypted" };
    if (payload instanceof Uint8Array) return { previewOmitted: "bytes" };
    return { preview: beginningOf(JSON.stringify(payload)) };
  } catch (error) {
    if (!(error instanceof SluiceError) || !isUnreadable(error)) throw error;
    return { previewOmitted: "encrypted" };
  }
}

function beginningOf(json: string): string {
  // A character has at most two units.
  const characters = Array.from(json.slice(0, 2 * MOST + 2));
  return characters.length > MOST ? `${characters.slice(0, MOST).join("")}…` : json;
}
