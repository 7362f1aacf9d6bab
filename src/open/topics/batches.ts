/** Batches of messages: large ones go in several requests. */
import type { SluiceErrorCode } from "../../errors.ts";
import type { StoredRetention } from "../../features/topics/index.ts";
import { asciiJson } from "../../kernel/record/record.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { type Published, PublishError, publishTogether, type TopicMeans } from "./publish.ts";
import type { Batch, Retaining } from "./retaining.ts";

/** Most characters of one request's payloads: also as UTF-8, and encrypted, a request takes them. */
const MAX_CHARACTERS = 2_000_000;

/** About how many characters a message has beside its payload and headers. */
const OVERHEAD = 500;

/** What retains a batch, if its topic is to. */
export type Retain = (batch: Batch, stored: StoredRetention | undefined) => Promise<Retaining | undefined>;

/**
 * Publishes messages in one request, or in several if they are large. What fails for some queues does not stop the others.
 * @throws {PublishError} if a queue has no copy
 */
export async function publishMessages(
  means: TopicMeans,
  topic: string,
  batch: Batch,
  retain: Retain,
  options: RequestOptions,
): Promise<readonly Published[]> {
  const published: Published[] = [];
  let failure: { readonly code: SluiceErrorCode; readonly reason: string } | undefined;
  for (const part of partsOf(batch)) {
    const done = await publishTogether(
      means,
      topic,
      part.messages,
      (stored) => retain(part, stored),
      options,
    );
    published.push(...done.published);
    failure ??= done.failure;
    if (done.isOver) break;
  }
  if (!failure) return published;
  for (const { id } of batch.messages.slice(published.length)) {
    published.push({ id, copies: [], failed: [], reread: false });
  }
  throw new PublishError(topic, failure.code, failure.reason, published);
}

function partsOf({ messages, texts, at }: Batch): Batch[] {
  const sizes = messages.map(({ options: { headers } }, i) => {
    return (texts[i] ?? "").length + asciiJson(headers ?? {}).length + OVERHEAD;
  });
  const parts: Batch[] = [];
  for (let first = 0, end = 1, characters = sizes[0] ?? 0; first < messages.length; end++) {
    characters += sizes[end] ?? 0;
    if (end < messages.length && characters <= MAX_CHARACTERS) continue;
    const from = first;
    const part = { messages: messages.slice(from, end), texts: texts.slice(from, end) };
    parts.push({ ...part, at: (place) => at(from + place) });
    [first, characters] = [end, sizes[end] ?? 0];
  }
  return parts;
}
