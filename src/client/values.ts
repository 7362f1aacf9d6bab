/** The values of tasks that are not plain JSON: with a schema or encryption, bytes, and what the codec must look at. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { SluiceError } from "../errors.ts";
import { chosenDelay } from "../kernel/options/backoff.ts";
import { fromBase64 } from "../base64.ts";
import { encodeError, encodeValue, losslessJson } from "../kernel/record/codec.ts";
import { readReceipt } from "../kernel/names/receipt.ts";
import { encodeProgress } from "../kernel/record/record.ts";
import type { AttemptError, TaskInfo } from "../kernel/record/task-info.ts";
import type { EnqueueOptions, Settlement } from "../kernel/options/types.ts";
import { headerTexts } from "../kernel/record/headers.ts";
import { instantMs, LAST_DUE } from "../kernel/options/instants.ts";
import { decodeBatch, nextToken } from "../kernel/lease/decode-tasks.ts";
import type { Batch } from "../kernel/lease/leased-task.ts";
import { encodeChecked } from "../kernel/enqueue/schema.ts";
import type { Values } from "../kernel/values/values.ts";
import { sealSettlement } from "../kernel/values/seal-settlement.ts";
import { openTask as openValues } from "../kernel/values/open-task.ts";
import { withFields } from "./fields.ts";
import type { DequeueReply, DequeuingQueue, Pull, TaskReply } from "./types.ts";

/** The fields for a value that the codec wrote: bytes are in base64, with `encoding` beside them. */
export function valueFields(name: string, encoded: string): Record<string, string> {
  const text = encoded.slice(1);
  return encoded[0] === "b" ? { [name]: `"${text}"`, encoding: '"base64"' } : { [name]: text };
}

/** A new task, as its fields are sent. */
interface TaskFields<In, Out> {
  readonly values: Values;
  readonly schema: StandardSchemaV1<In, Out> | undefined;
  readonly fields: Pick<EnqueueOptions, "id" | "at" | "headers">;
  /** Path of the task, for errors. */
  readonly at: string;
}

/**
 * The JSON of a new task.
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export async function taskJson<In, Out>(
  { values, schema, fields, at }: TaskFields<In, Out>,
  payload: In,
): Promise<string> {
  const pathOf = (field: string) => (at === "" ? field : `${at}.${field}`);
  const { id = "", at: instant, headers } = fields;
  const checked = {
    ...fields,
    ...(instant !== undefined && { at: instantMs(instant, pathOf("at"), LAST_DUE) }),
    ...(headers !== undefined && { headers: headerTexts(headers, pathOf("headers")) }),
  };
  const path = pathOf("payload");
  const encoded = await encodeChecked(schema, payload, path, values.maxPayload);
  const text = await values.seal({ kind: "payload", id }, encoded, path);
  return withFields(valueFields("payload", text), losslessJson(checked, at, true));
}

/** How the value of each outcome is written. The server refuses other outcomes. */
const encoders = new Map<unknown, readonly [name: string, encode: (value: unknown, path: string) => string]>([
  ["complete", ["result", encodeValue]],
  ["reject", ["error", encodeError]],
  ["requeue", ["error", encodeError]],
  ["extend", ["progress", encodeProgress]],
]);

/**
 * The JSON of a settlement.
 * @param at path of the settlement, for errors
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export async function settlementJson(values: Values, settlement: Settlement, at: string): Promise<string> {
  const fields: Record<string, unknown> = { ...settlement };
  if (settlement.outcome === "requeue" && typeof settlement.backoff === "function") {
    // The server cannot call the function. A list of one delay sets exactly the delay that it chose.
    const { charged } = readReceipt(settlement.receipt, `${at}.receipt`);
    fields["backoff"] = [chosenDelay(settlement.backoff, charged, `${at}.backoff`)];
  }
  const [name = "", encode] = encoders.get(settlement.outcome) ?? [];
  const value = fields[name];
  if (!encode || value === undefined) return losslessJson(fields, at, true);
  delete fields[name];
  const encoded = encode(value, `${at}.${name}`);
  const text = await sealSettlement(values, settlement, encoded, at);
  return withFields(valueFields(name, text), losslessJson(fields, at, true));
}

/**
 * Decodes the tasks of a dequeue, as {@link decodeBatch}.
 * @param request gets the token of each further dequeue
 */
export function decodeReply<Out>(
  queue: DequeuingQueue<Out>,
  first: DequeueReply,
  request: Pull & { token: string },
): Promise<Batch<Out>> {
  return decodeBatch(queue, queue.defaults.schema, rawBatch(first), async () => {
    request.token = await nextToken(queue.name, request.token);
    return rawBatch(await queue.pull(request));
  });
}

function rawBatch({ tasks, nextDueAt, paused }: DequeueReply) {
  const readers = tasks.map(({ encoding, ...task }) => () => ({
    ...task,
    payload: valueOf(task.payload, encoding),
  }));
  return { readers, nextDueAt, paused };
}

/**
 * Reads the values of a task, and decrypts them.
 * @throws {SluiceError} `undecryptable`
 */
export async function openTask(
  values: Values,
  { encoding, errorEncoding, payloadEncoding, ...rest }: TaskReply,
  id: string,
): Promise<TaskInfo> {
  const task = {
    ...rest,
    ...(payloadEncoding !== undefined && { payload: valueOf(rest.payload, payloadEncoding) }),
    ...(encoding !== undefined && { result: valueOf(rest.result, encoding) }),
    ...(errorEncoding !== undefined && { error: valueOf(rest.error, errorEncoding) }),
    errors: rest.errors.map(({ encoding: each, ...one }) => ({
      ...one,
      error: valueOf(one.error, each) as AttemptError["error"],
    })),
  };
  return openValues(values, task as TaskInfo, id);
}

/** The value in a reply of the server: itself, or bytes. */
export function valueOf(value: unknown, encoding: string | undefined): unknown {
  return encoding === undefined ? value : bytesOf(String(value));
}

/** @throws {SluiceError} `unexpected_reply` */
function bytesOf(base64: string): Uint8Array {
  const bytes = fromBase64(base64);
  if (bytes) return bytes;
  throw new SluiceError("unexpected_reply", "the server answered with bytes that are not base64");
}
