import type { StandardSchemaV1 } from "@standard-schema/spec";
import { derivedName } from "../names/derived-ids.ts";
import { type Batch, LeasedTask, type TaskSettler } from "./leased-task.ts";
import type { LeasedPayload } from "../record/leased-payload.ts";
import { readReceipt } from "../names/receipt.ts";
import type { Values } from "../values/values.ts";
import { isPromise } from "../maybe-promise.ts";
import { isUnreadable } from "../record/unreadable.ts";
import type { Settlement } from "../options/types.ts";

/** How many times one dequeue starts again because all its tasks were invalid. */
const MAX_ROUNDS = 10;

/** A task as it was leased, before its payload is decrypted and validated. */
export type RawTask = ConstructorParameters<typeof LeasedTask>[1] & LeasedPayload;

/** What one request leased: a reader for each task, which may throw, and the state of the queue. */
export interface RawBatch extends Pick<Batch<unknown>, "nextDueAt" | "paused"> {
  readonly readers: readonly (() => RawTask)[];
  /** Most bytes of payloads, if some are in an object store. */
  readonly maxBytes?: number | undefined;
}

/** What decoding needs of its queue. */
interface DecodingQueue extends TaskSettler {
  readonly values: Values;
}

/** The tasks of one request. */
interface DecodedTasks<Out> {
  /** The valid tasks. */
  readonly tasks: LeasedTask<Out>[];
  /** Whether there were invalid tasks, and no valid one. */
  readonly allInvalid: boolean;
  /** How many invalid tasks became dead letters. */
  readonly invalid: number;
  /** The error of a task whose record, or whose object, cannot be read for now. */
  readonly unreadable: unknown;
  /** When the first task is ready again that was handed back, epoch ms; undefined if none was. */
  readonly readyAt: number | undefined;
}

/**
 * Decodes the tasks of a dequeue for its caller. If every task was invalid, it dequeues again, up to 10
 * times.
 * @param first what the first request leased
 * @param dequeueAgain dequeues under the {@link nextToken}
 * @throws {SluiceError} the error of an unreadable task, if the request leased no valid task
 */
export async function decodeBatch<Out>(
  queue: DecodingQueue,
  schema: StandardSchemaV1<unknown, Out> | undefined,
  first: RawBatch,
  dequeueAgain: () => Promise<RawBatch>,
): Promise<Batch<Out>> {
  let [batch, invalid] = [first, 0];
  for (let more = 0; ; more++) {
    const decoded = await decodeTasks(queue, schema, batch);
    const { tasks, unreadable } = decoded;
    invalid += decoded.invalid;
    // An unreadable task stays leased until its lease expires. After its last attempt it is a dead letter.
    if (unreadable !== undefined && tasks.length === 0) throw unreadable;
    if (!decoded.allInvalid || more === MAX_ROUNDS) {
      const nextDueAt = earlier(batch.nextDueAt, decoded.readyAt);
      return Object.assign(tasks, { nextDueAt, paused: batch.paused, invalid });
    }
    batch = await dequeueAgain();
  }
}

function earlier(dueAt: number | null, readyAt: number | undefined): number | null {
  return readyAt === undefined ? dueAt : Math.min(dueAt ?? readyAt, readyAt);
}

/**
 * The token of the next request of a dequeue. It derives from the token before, so that a resent dequeue gets
 * the same tasks.
 */
export function nextToken(queue: string, token: string): Promise<string> {
  return derivedName("again", queue, token);
}

/**
 * Reads the tasks of a dequeue. Tasks that cannot be decrypted, whose objects are missing, or that do not match
 * the schema, become dead letters; if that fails, their leases expire and they are delivered again. An unreadable
 * task does not fail its batch.
 */
async function decodeTasks<Out>(
  queue: DecodingQueue,
  schema: StandardSchemaV1<unknown, Out> | undefined,
  { readers: leased, maxBytes = Infinity }: RawBatch,
): Promise<DecodedTasks<Out>> {
  const { values } = queue;
  const checks = schema && (await import("../enqueue/schema.ts"));
  const settle = (settlements: readonly Settlement[]) => queue.settle(settlements);
  const fetched = values.fetch && (await values.fetch(leased, maxBytes, settle));
  const { readers, handBacks = [] } = fetched ?? { readers: leased };
  const tasks: LeasedTask<Out>[] = [];
  const rejections: Settlement[] = [];
  let unreadable: unknown = fetched?.error;
  for (const read of readers) {
    let receipt: string | undefined;
    try {
      const task = read();
      ({ receipt } = task);
      if (task.failure) throw task.failure;
      // Values are sealed for the id in the receipt. An untrusted server may send another id beside it.
      const id = values.areSealed ? readReceipt(receipt, "receipt").id : task.id;
      const opened = values.open({ kind: "payload", id }, task.payload);
      // Plain payloads are not awaited: a microtask for each would be most of the cost.
      const payload = isPromise(opened) ? await opened : opened;
      const validated = checks ? await checks.validatePayload(schema, payload) : { payload: payload as Out };
      if ("issues" in validated) {
        const error = checks?.schemaError(validated.issues, values.areSealed);
        rejections.push({ receipt, outcome: "reject", error });
      } else {
        tasks.push(new LeasedTask<Out>(queue, { ...task, id, payload: validated.payload }));
      }
    } catch (error) {
      if (receipt !== undefined && isUnreadable(error))
        rejections.push({ receipt, outcome: "reject", error });
      else unreadable = error;
    }
  }
  const settlements = handBacks.length > 0 ? [...rejections, ...handBacks] : rejections;
  const settled = settlements.length > 0 ? await queue.settle(settlements).catch(() => []) : [];
  return {
    tasks,
    allInvalid: tasks.length === 0 && rejections.length > 0,
    invalid: settled.slice(0, rejections.length).filter(({ ok }) => ok).length,
    unreadable,
    readyAt: fetched?.readyAt,
  };
}
