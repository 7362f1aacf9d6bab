import type { DequeueOptions, RequestOptions, Settlement } from "../kernel/options/types.ts";
import { AbortableDequeue, MOST_AFTER_ABORT } from "../kernel/lease/abortable-dequeue.ts";

type Leased = readonly { readonly receipt: string }[];

/** A dequeue of a client. */
interface ClientDequeue<Result> {
  /** Sends its requests, and decodes the tasks. `onSend` is to be called before each copy. */
  readonly run: (onSend: () => void) => Promise<Result>;
  /** Sends the same dequeue again, without a wait. */
  readonly again: (options: RequestOptions) => Promise<{ readonly tasks: Leased }>;
  readonly settle: (settlements: readonly Settlement[], options: RequestOptions) => Promise<unknown>;
}

/**
 * Runs a dequeue. If its caller aborts it, the server's reply is lost: the same dequeue, sent again without a wait,
 * returns what it has leased, which is handed back, and prevents that a late copy leases tasks.
 * @throws {SluiceError} `aborted`, and what the dequeue throws
 */
export function runAbortable<Result extends { readonly tasks: Leased }>(
  options: DequeueOptions,
  { run, again, settle }: ClientDequeue<Result>,
): Promise<Result> {
  const dequeue = new AbortableDequeue(options, settle);
  const handBack = async () => {
    const { tasks } = await again({ signal: AbortSignal.timeout(MOST_AFTER_ABORT) });
    dequeue.handBack(tasks);
  };
  const send = async () => {
    try {
      return await run(() => (dequeue.isSent = true));
    } catch (error) {
      if (dequeue.isAbandoned && dequeue.isSent) handBack().catch(() => {});
      throw error;
    }
  };
  return dequeue.run(send, ({ tasks }) => tasks);
}
