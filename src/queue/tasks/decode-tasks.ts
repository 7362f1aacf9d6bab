import type { StandardSchemaV1 } from "@standard-schema/spec";
import { derivedName } from "../core/ids.ts";
import { type Batch, LeasedTask } from "./leased-task.ts";
import { readReceipt } from "../core/receipt.ts";
import { schemaError, validatePayload } from "./schema.ts";
import { isUndecryptable, decryptValue, type ValuesQueue } from "../values/encryption.ts";
import type { Tracing } from "../core/tracing.ts";
import type { Settled, Settlement } from "../core/types.ts";

/** How many times one dequeue starts again because all its tasks were invalid. */
const MAX_ROUNDS = 10;

/** A task as it was leased, before its payload is decrypted and validated. */
export type RawTask = ConstructorParameters<typeof LeasedTask>[1];

/** What one request leased: a reader for each task, which may throw, and the state of the queue. */
export interface RawBatch extends Pick<Batch<unknown>, "nextDueAt" | "paused"> {
  readonly readers: readonly (() => RawTask)[];
}

/** What decoding needs of its queue. */
interface DecodingQueue {
  readonly values: ValuesQueue;
  readonly settle: (settlements: readonly Settlement[]) => Promise<Settled[]>;
  readonly tracing: Tracing | undefined;
}

/** The tasks of one request. */
interface DecodedTasks<Out> {
  /** The valid tasks. */
  readonly tasks: LeasedTask<Out>[];
  /** Whether there were invalid tasks, and no valid one. */
  readonly allInvalid: boolean;
  /** How many invalid tasks became dead letters. */
  readonly invalid: number;
  /** The error of a task whose record cannot be read. */
  readonly unreadable: unknown;
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
    const decoded = await decodeTasks(queue, schema, batch.readers);
    const { tasks, unreadable } = decoded;
    invalid += decoded.invalid;
    // An unreadable task stays leased until its lease expires. After its last attempt it is a dead letter.
    if (unreadable !== undefined && tasks.length === 0) throw unreadable;
    if (!decoded.allInvalid || more === MAX_ROUNDS) {
      return Object.assign(tasks, { nextDueAt: batch.nextDueAt, paused: batch.paused, invalid });
    }
    batch = await dequeueAgain();
  }
}

/**
 * The token of the next request of a dequeue. It derives from the token before, so that a resent dequeue gets
 * the same tasks.
 */
export function nextToken(queue: string, token: string): Promise<string> {
  return derivedName("again", queue, token);
}

/**
 * Reads the tasks of a dequeue. Tasks that cannot be decrypted, or do not match the schema, become dead
 * letters; if that fails, their leases expire and they are delivered again. An unreadable task does not fail
 * its batch.
 * @param readers one for each task; may throw
 */
async function decodeTasks<Out>(
  queue: DecodingQueue,
  schema: StandardSchemaV1<unknown, Out> | undefined,
  readers: readonly (() => RawTask)[],
): Promise<DecodedTasks<Out>> {
  const { name, encryption } = queue.values;
  const tasks: LeasedTask<Out>[] = [];
  const rejections: Settlement[] = [];
  let unreadable: unknown;
  for (const read of readers) {
    let receipt: string | undefined;
    try {
      const task = read();
      ({ receipt } = task);
      // Results are encrypted for the id in the receipt. An untrusted server may send another id beside it.
      const id = encryption ? readReceipt(receipt, "receipt").id : task.id;
      const decrypted = decryptValue(encryption, task.payload, { kind: "payload", queue: name, id });
      // Plain payloads are not awaited: a microtask for each would be most of the cost.
      const payload = encryption ? await decrypted : decrypted;
      const validated = schema ? await validatePayload(schema, payload) : { payload: payload as Out };
      if ("issues" in validated) {
        const error = schemaError(validated.issues, encryption !== undefined);
        rejections.push({ receipt, outcome: "reject", error });
      } else {
        tasks.push(new LeasedTask<Out>(queue, { ...task, id, payload: validated.payload }));
      }
    } catch (error) {
      if (receipt !== undefined && isUndecryptable(error))
        rejections.push({ receipt, outcome: "reject", error });
      else unreadable = error;
    }
  }
  const settled = rejections.length > 0 ? await queue.settle(rejections).catch(() => []) : [];
  return {
    tasks,
    allInvalid: tasks.length === 0 && rejections.length > 0,
    invalid: settled.filter(({ ok }) => ok).length,
    unreadable,
  };
}
