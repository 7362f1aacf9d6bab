/** What a publish retains of its messages. */
import { SluiceError } from "../../errors.ts";
import { checkedEncryption, encrypted } from "../../features/encryption/index.ts";
import {
  type Message,
  type Retention,
  type StoredRetention,
  timeOf,
  type TopicsRef,
  writeMessage,
} from "../../features/topics/index.ts";
import { MAX_VALUE_BYTES } from "../../kernel/options/limits.ts";
import { all } from "../../kernel/maybe-promise.ts";
import { byteLength } from "../../kernel/record/byte-length.ts";
import { plainValues } from "../../kernel/values/values.ts";
import { retentionOf, type TopicDefinition } from "./definition.ts";

/** Messages to publish. */
export interface Batch {
  readonly messages: readonly Message[];
  /** Their payloads, encoded. */
  readonly texts: readonly string[];
  /** The path of a message in errors. */
  readonly at: (place: number) => string;
}

/** Messages to retain, as they are stored. */
export interface Retaining {
  /** What the topic is declared to retain, for sweeps; undefined if only others have declared it. */
  readonly declared: (Retention & { readonly isSealed: boolean }) | undefined;
  /** @param at when they are published, epoch ms */
  readonly messages: (at: number) => readonly string[];
}

/** For how long a publisher that has only the name of a topic retains its messages, once its declaration was last seen, ms. */
const DECLARED_FOR = 172_800_000;

/**
 * What to retain of messages: as their topic is declared, or for a publisher that has only its name, as others have
 * noted.
 * @param stored what others have noted
 * @returns undefined if the topic retains nothing
 * @throws {SluiceError} `too_large`; `undecryptable` if others encrypt what they retain
 */
export async function retainingOf(
  ref: TopicsRef,
  { name, options, isNameOnly }: TopicDefinition,
  { messages, texts, at }: Batch,
  stored: StoredRetention | undefined,
): Promise<Retaining | undefined> {
  const declared = retentionOf(options);
  const isKnown = isNameOnly && stored !== undefined && timeOf(ref) - stored.at < DECLARED_FOR;
  if (!declared && !isKnown) return undefined;
  if (isKnown && stored.isSealed) {
    throw new SluiceError(
      "undecryptable",
      `what ${name} retains is encrypted: publish where the topic is declared with its encryption`,
    );
  }
  for (const [i, text] of texts.entries()) {
    const bytes = byteLength(text, MAX_VALUE_BYTES) - 1;
    if (bytes <= MAX_VALUE_BYTES) continue;
    const path = `${at(i)}payload`;
    const rule = `at most ${MAX_VALUE_BYTES} are allowed in a topic that retains messages`;
    throw new SluiceError("too_large", `${path} has ${bytes} bytes; ${rule}`, path);
  }
  const encryption = checkedEncryption(options.encryption);
  const values = encrypted(plainValues(), name, encryption);
  const sealed = await all(messages, ({ id }, i) =>
    values.seal({ kind: "payload", id }, texts[i] as string, `${at(i)}payload`),
  );
  return {
    declared: declared && { ...declared, isSealed: values.areSealed },
    messages: (now) => messages.map((message, i) => writeMessage(message, sealed[i] as string, now)),
  };
}
