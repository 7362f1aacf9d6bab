import { fromBase64, toBase64 } from "../base64.ts";
import type { Message } from "./message.ts";

type Body = Pick<Message, "body" | "isBase64">;

/** A body as a message has it: text if it is UTF-8. */
export function bodyOf(bytes: Uint8Array): Body {
  if (bytes.length === 0) return {};
  try {
    return { body: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { body: toBase64(bytes), isBase64: true };
  }
}

/** The bytes of a message's body. */
export function bytesOf({ body = "", isBase64 }: Body): Uint8Array<ArrayBuffer> {
  return (isBase64 && fromBase64(body)) || new TextEncoder().encode(body);
}
