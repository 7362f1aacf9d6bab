import { isInteger, type RedisReply } from "./redis.ts";

/** How strings are sent: as they are, or each in base64. */
export type Encoding = "plain" | "base64";

/** What became of one command, in the form of the REST protocol. */
export type Outcome = { readonly reply: RedisReply } | { readonly error: string };

/** `{"result": …}` or `{"error": "…"}`. */
export function outcomeJson(outcome: Outcome, encoding: Encoding): string {
  if ("error" in outcome) return errorJson(outcome.error);
  if (outcome.reply instanceof Error) return errorJson(outcome.reply.message);
  // The one string that is not encoded. It is a status reply; a bulk string "OK" is a Buffer.
  if (outcome.reply === "OK") return '{"result":"OK"}';
  return `{"result":${replyJson(outcome.reply, encoding)}}`;
}

export const errorJson = (message: string): string => `{"error":${JSON.stringify(message)}}`;

function replyJson(reply: RedisReply, encoding: Encoding): string {
  if (reply === null) return "null";
  if (typeof reply === "string") return isInteger(reply) ? reply : stringJson(Buffer.from(reply), encoding);
  if (Buffer.isBuffer(reply)) return stringJson(reply, encoding);
  if (reply instanceof Error) return stringJson(Buffer.from(reply.message), encoding);
  return `[${reply.map((item) => replyJson(item, encoding)).join(",")}]`;
}

/** Bytes that are not UTF-8 come out as U+FFFD where they are not in base64, as on Upstash. */
const stringJson = (bytes: Buffer, encoding: Encoding): string =>
  encoding === "base64" ? `"${bytes.toString("base64")}"` : JSON.stringify(bytes.toString());
