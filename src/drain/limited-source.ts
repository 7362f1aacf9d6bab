import type { Settled, Settlement } from "../kernel/options/types.ts";
import type { Transport } from "../kernel/transport.ts";
import type { ExtendTask } from "./in-flight-task.ts";
import { type RequestBudget, type SeveralDatabases, withOnSend } from "./request-budget.ts";
import { checkedBudget, RequestShare } from "./request-share.ts";
import { changed, type TaskSource } from "./source.ts";

/** A source for a drain with `requests`. */
export interface LimitedSource<T> {
  /** Counts what it sends. */
  readonly source: TaskSource<T>;
  /** The drain's share of the requests. */
  readonly share: RequestShare;
  /** Sends the extends of handlers, which count as theirs. */
  readonly extendFor: (task: Pick<Settlement, "receipt">) => ExtendTask;
}

/** @throws {SluiceError} `invalid_argument` */
export function limited<T>(
  source: TaskSource<T>,
  requests: number | RequestBudget,
  perTask: number,
): LimitedSource<T> {
  const share = new RequestShare(checkedBudget(requests, perTask), perTask, databasesOf(source));
  return { source: counted(source, share.onSend), share, extendFor: extendsOver(source) };
}

/** What a {@link Queue} keeps of what it was made of. */
interface MadeQueue {
  readonly transport: Transport & Partial<SeveralDatabases>;
  readonly options: object;
}

/** The same source, which calls `onSend` before each copy of a request: see {@link TaskSource.counted}. */
export function counted<T>(source: TaskSource<T>, onSend: () => void): TaskSource<T> {
  if (source.counted) return source.counted(onSend);
  if (isQueue(source)) {
    // The class is not imported, because a drain of the HTTP client needs no part of it.
    const SameClass = source.constructor as new (name: string, options: object) => TaskSource<T>;
    const { name, options, transport } = source;
    return new SameClass(name, { ...options, transport: withOnSend(transport, onSend) });
  }
  return changed(source, {
    async settle(...args) {
      onSend();
      return source.settle(...args);
    },
    async dequeue(...args) {
      onSend();
      return source.dequeue(...args);
    },
    async settleAndDequeue(...args) {
      onSend();
      return source.settleAndDequeue(...args);
    },
  });
}

/** Sends the extends of a task through a source, which does not count them. */
function extendsOver<T>(source: TaskSource<T>): (task: Pick<Settlement, "receipt">) => ExtendTask {
  return ({ receipt }) =>
    async (lease, options) => {
      const [extended] = await source.settle([{ receipt, outcome: "extend", lease, ...options }]);
      return extended as Settled;
    };
}

/** Over how many databases one call may be spread. */
export function databasesOf<T>(source: TaskSource<T>): number {
  if (source.databases !== undefined) return source.databases;
  return (isQueue(source) && source.transport.databases) || 1;
}

function isQueue<T>(source: TaskSource<T>): source is TaskSource<T> & MadeQueue {
  return "transport" in source && "options" in source;
}
