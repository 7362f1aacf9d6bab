/** Messages that a topic has retained. */
import { newerSchema, SluiceError } from "../../errors.ts";
import { milliseconds } from "../../kernel/options/duration.ts";
import { decodeValue } from "../../kernel/record/codec.ts";
import { isEnvelope } from "../../kernel/record/envelope.ts";
import { asciiJson } from "../../kernel/record/record.ts";
import type { EnqueueOptions } from "../../kernel/options/types.ts";
import type { Values } from "../../kernel/values/values.ts";

/** A message of a topic. */
export interface Message {
  readonly id: string;
  readonly payload: unknown;
  /** Those of its copies, without the id. */
  readonly options: Omit<EnqueueOptions, "id">;
}

/**
 * A message as the list of its topic has it.
 * @param sealed its payload, as the codec wrote it and `values` have sealed it
 * @param at when it is published, epoch ms
 */
export function writeMessage({ id, options }: Omit<Message, "payload">, sealed: string, at: number): string {
  const { delay, at: due, ...others } = options;
  // A replay delays nothing again.
  const later = delay === undefined ? undefined : at + milliseconds(delay, "delay");
  const json = asciiJson({ ...others, at: due === undefined ? later : Number(due) });
  return `1;${json.length};${id}\n${json}${sealed}`;
}

/** @throws {SluiceError} `newer_schema`, `undecryptable`, `unexpected_reply` */
export async function readMessage(text: string, values: Values): Promise<Message> {
  const end = text.indexOf("\n");
  const [, version, length, id = ""] = /^(\d+);(\d+);(.*)$/.exec(text.slice(0, end)) ?? [];
  if (version !== "1") throw newerSchema("a message that a topic has retained");
  const begin = end + 1 + Number(length);
  try {
    const options = JSON.parse(text.slice(end + 1, begin)) as Message["options"];
    const stored = decodeValue(text.slice(begin));
    if (!values.areSealed && isEnvelope(stored)) {
      throw new SluiceError(
        "undecryptable",
        "what the topic retains is encrypted, and the replay has no key",
      );
    }
    const payload: unknown = await values.open({ kind: "payload", id }, stored);
    return { id, payload, options };
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError("unexpected_reply", "a message that a topic has retained cannot be read");
  }
}
