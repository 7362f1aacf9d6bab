import type { Attributes } from "@opentelemetry/api";
import { readReceipt } from "../../kernel/names/receipt.ts";
import type { LeasedTask } from "../../kernel/lease/leased-task.ts";
import type { Enqueued, Settlement } from "../../kernel/options/types.ts";

/** What a span is of. By the conventions, `name` is the word of the system, and `type` that of OpenTelemetry. */
export const operations = {
  enqueue: { name: "enqueue", type: "send" },
  dequeue: { name: "dequeue", type: "receive" },
  process: { name: "process", type: "process" },
  settle: { name: "settle", type: "settle" },
} as const;

type Operation = (typeof operations)[keyof typeof operations];

/**
 * The attributes of a span.
 * @param ids of its tasks, as far as they are known
 * @param count how many tasks it has, if its operation is one for batches
 */
export function attributesOf(
  { name, type }: Operation,
  queue: string,
  ids: readonly (string | undefined)[],
  count?: number,
): Attributes {
  const [id] = ids;
  return {
    "messaging.system": "sluice",
    "messaging.destination.name": queue,
    "messaging.operation.name": name,
    "messaging.operation.type": type,
    ...(ids.length === 1 && id !== undefined && { "messaging.message.id": id }),
    ...(count !== undefined && { "messaging.batch.message_count": count }),
  };
}

/** What an enqueue has done. */
export function enqueuedAttributes(results: readonly Enqueued[]): Attributes {
  const [only] = results;
  const duplicates = results.filter(({ created }) => !created).length;
  return {
    ...(results.length === 1 && only && { "messaging.message.id": only.id }),
    ...(duplicates > 0 && { "messaging.sluice.duplicates": duplicates }),
  };
}

/** Which attempt a handler's call is. */
export function attemptAttribute({ attempt }: Pick<LeasedTask, "attempt">): Attributes {
  return { "messaging.sluice.attempt": attempt };
}

/** The outcome of one task, or of several how many have which outcome. */
export function outcomeAttributes(outcomes: readonly string[]): Attributes {
  const [only] = outcomes;
  if (outcomes.length === 1 && only !== undefined) return { "messaging.sluice.outcome": only };
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) {
    const name = `messaging.sluice.outcome.${outcome}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** The id of the task that a settlement is of; undefined if its receipt is invalid. */
export function idOf({ receipt }: Settlement): string | undefined {
  try {
    return readReceipt(receipt, "receipt").id;
  } catch {
    return undefined;
  }
}

/** A code or class name that is short and says nothing about the payload. */
const NAME = /^[\w.:-]{1,100}$/;

/** The `error.type` of an error: its code, else its name. */
export function errorType(error: unknown): string {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  const type = [code, name].find((one) => typeof one === "string" && NAME.test(one));
  return (type as string | undefined) ?? "_OTHER";
}
