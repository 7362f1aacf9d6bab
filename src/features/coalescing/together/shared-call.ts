import { abortedBySignal, SluiceError } from "../../../errors.ts";
import type { SingleCall } from "../single-call.ts";

/** Most bytes of a group's items. */
const MAX_GROUP_BYTES = 8_000_000;

/** A kind of request that calls can share. */
export interface Shareable<Item, Answer> {
  /** Most calls of one request. */
  readonly most: number;
  /** Prepares an item. The other calls of its group wait for it. @default it is sent as it is */
  readonly prepare?: (item: Item) => Promise<Item> | undefined;
  /** Most bytes of one item, about, to limit the size of a request. @default few */
  readonly bytes?: (item: Item) => number;
  /**
   * Sends one request, and answers or fails each call. An error that it throws fails the calls without an
   * answer.
   */
  readonly send: (
    calls: readonly SharedCall<Item, Answer>[],
    signal: AbortSignal | undefined,
  ) => Promise<void>;
}

/** The call of one caller, which may share a request with others. */
export class SharedCall<Item, Answer> {
  readonly kind: Shareable<Item, Answer>;
  readonly signal: AbortSignal | undefined;
  /** Resolves when the item is ready, or the call has failed. @default it is ready */
  readonly prepared: Promise<void> | undefined;
  /** What the call sends. */
  item: Item;
  /** True once the call has been answered, has failed, or was aborted. */
  done = false;
  sent = false;
  /** Called if the caller aborts before the answer. */
  onLeave: (() => void) | undefined;
  readonly #caller: SingleCall<Item, Answer>;

  constructor(kind: Shareable<Item, Answer>, caller: SingleCall<Item, Answer>) {
    this.kind = kind;
    this.signal = caller.signal;
    this.item = caller.item;
    this.#caller = caller;
    this.signal?.addEventListener("abort", this.#leave);
    this.prepared = kind.prepare?.(caller.item)?.then(
      (item) => void (this.item = item),
      (error: unknown) => this.fail(error),
    );
    if (this.signal?.aborted) this.#leave();
  }

  answer(answer: Answer): void {
    if (this.#end()) this.#caller.resolve(answer);
  }

  fail(error: unknown): void {
    if (this.#end()) this.#caller.reject(error);
  }

  readonly #leave = (): void => {
    this.fail(abortedBySignal(this.sent));
    this.onLeave?.();
  };

  #end(): boolean {
    if (this.done) return false;
    this.done = true;
    this.signal?.removeEventListener("abort", this.#leave);
    return true;
  }
}

/** Sends calls in as few requests as their number and size allow. */
export async function sendTogether<Item, Answer>(
  kind: Shareable<Item, Answer>,
  callers: readonly SingleCall<Item, Answer>[],
): Promise<void> {
  const calls = callers.map((caller) => new SharedCall(kind, caller));
  await allReady(calls);
  const waiting = calls.filter(({ done }) => !done);
  while (waiting.length > 0) void sendRequest(takeFirst(waiting));
}

/** Waits until the items of a group are prepared. */
export async function allReady<Item, Answer>(calls: readonly SharedCall<Item, Answer>[]): Promise<void> {
  for (const { prepared } of calls) if (prepared) await prepared;
}

/** Removes the calls of one request from those that wait. */
export function takeFirst<Item, Answer>(
  waiting: SharedCall<Item, Answer>[],
): readonly SharedCall<Item, Answer>[] {
  let [count, bytes] = [0, 0];
  for (const { kind, item } of waiting) {
    if (waiting.length > 1) bytes += kind.bytes?.(item) ?? 0;
    if (count === kind.most || (count > 0 && bytes > MAX_GROUP_BYTES)) break;
    count++;
  }
  return waiting.splice(0, count);
}

/** Sends calls in one request. Those that it leaves without an answer fail. */
export async function sendRequest<Item, Answer>(calls: readonly SharedCall<Item, Answer>[]): Promise<void> {
  try {
    await calls[0]?.kind.send(calls, signalOf(calls));
    if (calls.every(({ done }) => done)) return;
    throw new SluiceError("unexpected_reply", "the script returned too few answers");
  } catch (error) {
    for (const call of calls) call.fail(error);
  }
}

/** Takes note that calls are sent in one request. Its signal aborts once all callers have aborted. */
function signalOf<Item, Answer>(calls: readonly SharedCall<Item, Answer>[]): AbortSignal | undefined {
  for (const call of calls) call.sent = true;
  if (calls.length === 1) return calls[0]?.signal;
  if (calls.some(({ signal }) => signal === undefined)) return undefined;
  const all = new AbortController();
  const onLeave = () => calls.every(({ done }) => done) && all.abort();
  for (const call of calls) call.onLeave = onLeave;
  return all.signal;
}
