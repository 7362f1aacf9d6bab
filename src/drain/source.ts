import type { Queue } from "../kernel/queue.ts";
import type { Transport } from "../kernel/transport.ts";

/**
 * Where a consumer gets its tasks and settles them: a {@link Queue}, or a queue of the HTTP client. Handlers get its
 * tasks with what `Own` has.
 */
export type TaskSource<T = unknown, Own = unknown> = Pick<
  Queue<never, T>,
  "name" | "dequeue" | "settle" | "settleAndDequeue"
> &
  Partial<Pick<Queue, "hooks">> & {
    /** What its hooks add to the tasks of handlers; never a value. */
    readonly ofTasks?: Own | undefined;
    /**
     * Returns the same source, which calls `onSend` before each copy of a request that it sends, and does not send
     * it if that throws.
     * @default each call counts as one request; a {@link Queue} needs no such method
     */
    readonly counted?: ((onSend: () => void) => TaskSource<T>) | undefined;
    /** Over how many databases one call may be spread. @default 1, or as the transport of a {@link Queue} has */
    readonly databases?: number | undefined;
    /** Whether requests cost little. @default false, or as the transport of a {@link Queue} says */
    readonly connected?: boolean | undefined;
    /**
     * Called when a drain has ended, with the time that it may still take, ms. The drain waits for it.
     * @default nothing to wait for
     */
    readonly ended?: ((timeLeft: number) => Promise<unknown>) | undefined;
  };

type Operations<T> = Pick<TaskSource<T>, "dequeue" | "settle" | "settleAndDequeue">;

/** A source with the operations of another one, changed. */
export function changed<T>(
  source: TaskSource<T>,
  operations: Operations<T> & Partial<TaskSource<T>>,
): TaskSource<T> {
  return { name: source.name, hooks: source.hooks, connected: isConnected(source), ...operations };
}

/** Whether requests of a source cost little. */
export function isConnected<T>(source: TaskSource<T> & { readonly transport?: unknown }): boolean {
  const { connected = (source.transport as Transport | undefined)?.connected } = source;
  return connected ?? false;
}
