import { isInteger, type RedisReply } from "./redis-client.ts";

/** The format of replies: JSON with plain strings, JSON with strings in base64, or the bytes of RESP2. */
export type Format = "json" | "base64" | "resp2";

/** The outcome of one command in the REST protocol. */
export type Outcome = { readonly reply: RedisReply } | { readonly error: string };

/** `{"result": …}` or `{"error": "…"}`. */
export function outcomeJson(outcome: Outcome, format: Exclude<Format, "resp2">): string {
  if ("error" in outcome) return errorJson(outcome.error);
  if (outcome.reply instanceof Error) return errorJson(outcome.reply.message);
  // The only string that is never encoded. It is a status reply; a bulk string "OK" is a Buffer.
  if (outcome.reply === "OK") return '{"result":"OK"}';
  return `{"result":${replyJson(outcome.reply, format)}}`;
}

export const errorJson = (message: string): string => `{"error":${JSON.stringify(message)}}`;

function replyJson(reply: RedisReply, format: Format): string {
  if (reply === null) return "null";
  if (typeof reply === "string") return isInteger(reply) ? reply : stringJson(Buffer.from(reply), format);
  if (Buffer.isBuffer(reply)) return stringJson(reply, format);
  if (reply instanceof Error) return stringJson(Buffer.from(reply.message), format);
  return `[${reply.map((item) => replyJson(item, format)).join(",")}]`;
}

/** As on Upstash, bytes that are not UTF-8 become U+FFFD, except in base64. */
const stringJson = (bytes: Buffer, format: Format): string =>
  format === "base64" ? `"${bytes.toString("base64")}"` : JSON.stringify(bytes.toString());

/** The reply as Redis sends it, except that every null is a null string: `$-1`. */
export const outcomeResp2 = (outcome: Outcome): Buffer =>
  replyResp2("error" in outcome ? new Error(outcome.error) : outcome.reply);

/** An array of encoded replies. */
export const arrayResp2 = (items: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.from(`*${items.length}\r\n`), ...items]);

function replyResp2(reply: RedisReply): Buffer {
  if (reply === null) return Buffer.from("$-1\r\n");
  if (typeof reply === "string") return Buffer.from(`${isInteger(reply) ? ":" : "+"}${reply}\r\n`);
  if (Buffer.isBuffer(reply)) {
    return Buffer.concat([Buffer.from(`$${reply.length}\r\n`), reply, Buffer.from("\r\n")]);
  }
  // On one line, as in Redis, because a line end would end the reply.
  if (reply instanceof Error) return Buffer.from(`-${reply.message.replaceAll(/[\r\n]/g, " ")}\r\n`);
  return arrayResp2(reply.map(replyResp2));
}
