import { fromBase64 } from "../../queue/core/codec.ts";

/**
 * Decodes base64 with its padding (RFC 4648, section 4). `atob` alone also accepts spaces and missing padding.
 * @returns `undefined` if the text has another form
 */
export function fromStrictBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || /[^A-Za-z0-9+/=]/.test(text)) return undefined;
  try {
    return fromBase64(text);
  } catch {
    return undefined;
  }
}
