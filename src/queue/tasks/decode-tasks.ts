import type { StandardSchemaV1 } from "@standard-schema/spec";
import { derivedName } from "../core/ids.ts";
import { type Batch, LeasedTask } from "./leased-task.ts";
import { readReceipt } from "../core/receipt.ts";
import { fit, misfitError } from "./schema.ts";
import { isUndecryptable, opened, type ValuesQueue } from "../values/encryption.ts";
import type { Settled, Settlement } from "../core/types.ts";

/** How many more requests one dequeue sends because every task of the last one was invalid. */
const MOST_MORE = 10;

/** A task as it was leased, before a schema has seen its payload. */
export type RawTask = ConstructorParameters<typeof LeasedTask>[1];

/** What one request leased: a reader for each task, which may throw, and the state of the queue. */
export interface RawBatch extends Pick<Batch<unknown>, "nextDueAt" | "paused"> {
  readonly readers: readonly (() => RawTask)[];
}

/** What decoding needs of its queue. */
interface DecodingQueue {
  readonly values: ValuesQueue;
  readonly settle: (settlements: readonly Settlement[]) => Promise<Settled[]>;
}

/** Of the tasks of one request, those for a handler. */
interface DecodedTasks<Out> {
  readonly tasks: LeasedTask<Out>[];
  /** Whether there were others, and no more than others. */
  readonly allInvalid: boolean;
  /** How many others are dead letters now. */
  readonly invalid: number;
  /** What kept a task from being read at all. */
  readonly unreadable: unknown;
}

/**
 * Decodes the tasks of a dequeue for its caller. If every task was invalid, it dequeues again, up to 10 times.
 * @param first what the first request leased
 * @param dequeueAgain dequeues under the {@link nextToken}
 * @throws {SluiceError} why a task could not be read, if no other task could
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
    // The lease of such a task expires, until the task is a dead letter.
    if (unreadable !== undefined && tasks.length === 0) throw unreadable;
    if (!decoded.allInvalid || more === MOST_MORE) {
      return Object.assign(tasks, { nextDueAt: batch.nextDueAt, paused: batch.paused, invalid });
    }
    batch = await dequeueAgain();
  }
}

/** The token under which a dequeue goes on. It is derived, so that a resent dequeue leases the same tasks. */
export function nextToken(queue: string, token: string): Promise<string> {
  return derivedName("again", queue, token);
}

/**
 * Reads the tasks of a dequeue. Those that cannot be decrypted, or do not fit the schema, become dead letters; where
 * that fails their leases expire, and they are met again. One beyond reading does not take its batch along.
 * @param readers one for each task; it may throw
 */
async function decodeTasks<Out>(
  queue: DecodingQueue,
  schema: StandardSchemaV1<unknown, Out> | undefined,
  readers: readonly (() => RawTask)[],
): Promise<DecodedTasks<Out>> {
  const { name, encryption } = queue.values;
  const tasks: LeasedTask<Out>[] = [];
  const misfits: Settlement[] = [];
  let unreadable: unknown;
  for (const read of readers) {
    let receipt: string | undefined;
    try {
      const task = read();
      ({ receipt } = task);
      // Whose result it will be: a server that is not trusted may say another id beside.
      const id = encryption ? readReceipt(receipt, "receipt").id : task.id;
      const found = opened(encryption, task.payload, { kind: "payload", queue: name, id });
      // A turn of the event loop's queue for each plain task would be most of what it costs.
      const payload = encryption ? await found : found;
      const fitted = schema ? await fit(schema, payload) : { payload: payload as Out };
      if ("misfits" in fitted) {
        misfits.push({ receipt, outcome: "reject", error: misfitError(fitted.misfits) });
      } else {
        tasks.push(new LeasedTask<Out>(queue, { ...task, id, payload: fitted.payload }));
      }
    } catch (error) {
      if (receipt !== undefined && isUndecryptable(error))
        misfits.push({ receipt, outcome: "reject", error });
      else unreadable = error;
    }
  }
  const settled = misfits.length > 0 ? await queue.settle(misfits).catch(() => []) : [];
  return {
    tasks,
    allInvalid: tasks.length === 0 && misfits.length > 0,
    invalid: settled.filter(({ ok }) => ok).length,
    unreadable,
  };
}
