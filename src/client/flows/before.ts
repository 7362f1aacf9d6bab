/** What a task waited for, as the server writes it. */
import type { Before } from "../../features/flows/index.ts";
import { listOf } from "../../kernel/options/validation.ts";
import type { Values } from "../../kernel/values/values.ts";
import { valueOf } from "../values.ts";
import { knownQueue, type NamedQueue } from "./known-queue.ts";

/** What has become of a task, and which it is: its values are bound to that. */
export interface BeforeReply extends Before {
  readonly id: string;
  readonly queue: string;
  readonly encoding?: string;
  readonly errorEncoding?: string;
}

/**
 * How the values of each queue are opened, by its name.
 * @param own the queue of the task
 * @throws {SluiceError} `invalid_argument`
 */
export function valuesByQueue(own: NamedQueue, others: readonly NamedQueue[]): (queue: string) => Values {
  listOf(others, "queues", Infinity);
  const given = new Map([own, ...others].map(knownQueue).map(({ name, values }) => [name, values]));
  const { options } = knownQueue(own);
  return (name) => given.get(name) ?? knownQueue({ name, options }).values;
}

/** @throws {SluiceError} `undecryptable` */
export async function openedBefore(
  values: Values,
  { id, queue: _, encoding, errorEncoding, ...one }: BeforeReply,
): Promise<Before> {
  const opened: { result?: unknown; error?: unknown } = {};
  if (one.result !== undefined)
    opened.result = await values.open({ kind: "result", id }, valueOf(one.result, encoding));
  if (one.error !== undefined)
    opened.error = await values.open({ kind: "error", id }, valueOf(one.error, errorEncoding));
  return { ...one, ...opened };
}
