import type { StandardSchemaV1 } from "@standard-schema/spec";
import { derivedName } from "../core/ids.ts";
import { LeasedTask } from "./leased-task.ts";
import { readReceipt } from "../core/receipt.ts";
import { fit, misfitError } from "./schema.ts";
import { isUndecryptable, opened, type ValuesQueue } from "../values/encryption.ts";
import type { Settled, Settlement } from "../core/types.ts";

/** How often one dequeue begins anew because all that it got did not fit the schema. */
const MOST_ROUNDS = 10;

/** A task as it was leased, before a schema has seen its payload. */
export type RawTask = ConstructorParameters<typeof LeasedTask>[1];

/** Of the tasks of one dequeue, those for a handler. */
export interface DecodedTasks<Out> {
  readonly tasks: LeasedTask<Out>[];
  /** Whether there were others, and no more than others. */
  readonly allInvalid: boolean;
  /** How many others are dead letters now. */
  readonly invalid: number;
  /** What kept a task from being read at all. */
  readonly unreadable: unknown;
}

/**
 * Reads the tasks of a dequeue. Those that cannot be decrypted, or do not fit the schema, become dead letters; where
 * that fails their leases expire, and they are met again. One beyond reading does not take its batch along.
 * @param readers one for each task; it may throw
 */
export async function decodeTasks<Out>(
  queue: {
    readonly values: ValuesQueue;
    readonly settle: (settlements: readonly Settlement[]) => Promise<Settled[]>;
  },
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

/**
 * The token with which a dequeue begins anew that got nothing but misfits: another one, and the same for whoever sends
 * the dequeue again. Nothing once it has begun anew often enough.
 */
export async function tokenOfNext(queue: string, token: string, round: number): Promise<string | undefined> {
  return round < MOST_ROUNDS ? derivedName("again", queue, token) : undefined;
}
