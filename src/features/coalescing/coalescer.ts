/** Joins single calls that are made together into one request. */
import { abortedBySignal, invalidArgument, SluiceError } from "../../errors.ts";
import { byteLength } from "../../kernel/record/byte-length.ts";
import type { Transport } from "../../kernel/transport.ts";

/**
 * Which single calls share a request. `"turn"`: calls of one instance in the same turn of the event loop; on
 * platforms that cannot tell its end, calls directly after each other. Calls of two requests of a Worker
 * never share one. `"in-flight"`: calls of all instances with the same transport object; a call made while
 * such a request is under way waits for its answer, at most 250 ms. `false`: none.
 */
export type Coalesce = "turn" | "in-flight" | false;

/** How many microtasks a group stays open if the platform cannot tell the end of a turn. */
const GATHER_STEPS = 4;

/** After an answer, how many microtasks its callers have to join the next request with their next calls. */
const REJOIN_STEPS = 16;

/** How many requests of a kind may be under way with `"in-flight"`. */
const MAX_UNDER_WAY = 1;

/** How long a request delays the next of its kind, ms. A lost request must not delay others for long. */
const MAX_DELAY = 250;

/** Most bytes of a group's items. */
const MAX_GROUP_BYTES = 8_000_000;

/** A kind of request that calls can share. */
export interface Shareable<Item, Answer> {
  /** Most calls of one request. */
  readonly most: number;
  /** The long text of one item, to limit the size of a request. @default none */
  readonly text?: (item: Item) => string;
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
  readonly answered: Promise<Answer>;
  /** Resolves when the item is ready, or the call has failed. */
  readonly prepared: Promise<void>;
  /** What the call sends. */
  item!: Item;
  ready = false;
  /** True once the call has been answered, has failed, or was aborted. */
  done = false;
  sent = false;
  /** Called if the caller aborts before the answer. */
  onLeave: (() => void) | undefined;
  #resolve!: (answer: Answer) => void;
  #reject!: (error: unknown) => void;

  constructor(kind: Shareable<Item, Answer>, item: Promise<Item>, signal: AbortSignal | undefined) {
    this.kind = kind;
    this.signal = signal;
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal?.addEventListener("abort", this.#leave);
    this.prepared = this.#prepare(item);
  }

  answer(answer: Answer): void {
    if (this.#end()) this.#resolve(answer);
  }

  fail(error: unknown): void {
    if (this.#end()) this.#reject(error);
  }

  async #prepare(item: Promise<Item>): Promise<void> {
    try {
      this.item = await item;
      if (this.signal?.aborted) this.#leave();
    } catch (error) {
      this.fail(error);
    }
    this.ready = true;
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

/** Waits for the answers of a request. Calls that it leaves without one fail. */
async function allAnswered<Item, Answer>(
  calls: readonly SharedCall<Item, Answer>[],
  answered: Promise<void>,
): Promise<void> {
  try {
    await answered;
    if (calls.every(({ done }) => done)) return;
    throw new SluiceError("unexpected_reply", "the script returned too few answers");
  } catch (error) {
    for (const call of calls) call.fail(error);
  }
}

async function sendAlone<Item, Answer>(call: SharedCall<Item, Answer>): Promise<void> {
  await call.prepared;
  if (!call.done) await allAnswered([call], call.kind.send([call], sentTogether([call])));
}

/** Takes note that calls are sent in one request. Its signal aborts once all callers have aborted. */
function sentTogether<Item, Answer>(calls: readonly SharedCall<Item, Answer>[]): AbortSignal | undefined {
  for (const call of calls) call.sent = true;
  if (calls.length === 1) return calls[0]?.signal;
  if (calls.some(({ signal }) => signal === undefined)) return undefined;
  const all = new AbortController();
  const onLeave = () => calls.every(({ done }) => done) && all.abort();
  for (const call of calls) call.onLeave = onLeave;
  return all.signal;
}

/**
 * `process.nextTick` of Node, Bun and Deno marks the end of a turn. Written so that bundlers for the edge
 * accept it.
 */
const { process: host } = globalThis as { process?: { nextTick?: (resolve: () => void) => void } };

/**
 * Resolves when all promises of this turn of the event loop that can run have run; never waits for a timer.
 * @param steps how many microtasks to wait if the platform cannot tell
 */
async function endOfTurn(steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) await Promise.resolve();
  // A tick requested by a microtask runs when no microtask is left.
  await new Promise<void>((resolve) => (host?.nextTick ? host.nextTick(resolve) : resolve()));
}

/** Calls that can share requests. */
class Pool<Item, Answer> {
  readonly #mostUnderWay: number;
  readonly #onIdle: () => void;
  /** The group of this turn, while calls may still join it. */
  #open: SharedCall<Item, Answer>[] | undefined;
  /** How many groups are open, or wait for items. */
  #groups = 0;
  /** Calls that are ready to be sent, in order. */
  #waiting: SharedCall<Item, Answer>[] = [];
  #underWay = 0;

  constructor(mostUnderWay: number, onIdle: () => void) {
    this.#mostUnderWay = mostUnderWay;
    this.#onIdle = onIdle;
  }

  /** Adds a call to the group of this turn. The first call of a group sends it when the turn has ended. */
  async add(call: SharedCall<Item, Answer>): Promise<void> {
    if (this.#open) return void this.#open.push(call);
    const group = [call];
    this.#open = group;
    this.#groups++;
    await endOfTurn(GATHER_STEPS);
    this.#open = undefined;
    for (const one of group) if (!one.ready) await one.prepared;
    this.#groups--;
    this.#waiting = this.#waiting.concat(group);
    this.#send();
  }

  /** Sends the calls that wait, as far as the limit allows. If a group is open, they go along with it. */
  #send(): void {
    if (this.#open) return;
    this.#waiting = this.#waiting.filter(({ done }) => !done);
    while (this.#waiting.length > 0 && this.#underWay < this.#mostUnderWay) {
      const calls = this.#take();
      this.#underWay++;
      const answered = (calls[0] as SharedCall<Item, Answer>).kind.send(calls, sentTogether(calls));
      void this.#finish(calls, answered);
    }
    if (this.#groups + this.#waiting.length + this.#underWay === 0) this.#onIdle();
  }

  /** Waits until a request is answered, and makes room for the next. */
  async #finish(calls: readonly SharedCall<Item, Answer>[], answered: Promise<void>): Promise<void> {
    let isCounted = true;
    const makeRoom = () => {
      if (!isCounted) return;
      isCounted = false;
      this.#underWay--;
      this.#send();
    };
    const isLimited = this.#mostUnderWay !== Number.POSITIVE_INFINITY;
    const timer = isLimited ? setTimeout(makeRoom, MAX_DELAY) : undefined;
    await allAnswered(calls, answered);
    clearTimeout(timer);
    if (isLimited) await endOfTurn(REJOIN_STEPS);
    makeRoom();
  }

  #take(): SharedCall<Item, Answer>[] {
    let [count, bytes] = [0, 0];
    for (const { kind, item } of this.#waiting) {
      if (this.#waiting.length > 1) bytes += roughBytes(kind.text?.(item));
      if (count === kind.most || (count > 0 && bytes > MAX_GROUP_BYTES)) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }
}

/** The bytes of a text, or an upper bound for a short text. */
function roughBytes(text = ""): number {
  return text.length < 1_000 ? 3 * text.length : byteLength(text);
}

type Pools = Map<string, Pool<unknown, unknown>>;

/** The pools of each transport, for calls of all its queues. A pool is removed when it is idle. */
const inFlight = new WeakMap<Transport, Pools>();

function poolsOf(transport: Transport): Pools {
  const pools: Pools = inFlight.get(transport) ?? new Map();
  inFlight.set(transport, pools);
  return pools;
}

/** Makes single calls, joined into shared requests. */
export class Coalescer {
  readonly #pools: Pools | undefined;
  readonly #mostUnderWay: number;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(mode: Coalesce | undefined, transport: Transport) {
    if (![undefined, "turn", "in-flight", false].includes(mode)) {
      throw invalidArgument("coalesce", 'must be "turn", "in-flight" or false');
    }
    this.#mostUnderWay = mode === "in-flight" ? MAX_UNDER_WAY : Number.POSITIVE_INFINITY;
    if (mode !== false) this.#pools = mode === "in-flight" ? poolsOf(transport) : new Map();
  }

  /**
   * Makes a call.
   * @param kind the kind of request to send
   * @param pool the name of a pool. Only calls in the same pool share a request, so the name has the queue's
   *   key, the kind, and all else that must be equal
   * @param item what to send, once it is prepared; the other calls of its group wait for it
   * @returns the answer
   * @throws {SluiceError} `aborted`, and what the request throws
   */
  call<Item, Answer>(
    kind: Shareable<Item, Answer>,
    pool: string,
    item: Promise<Item>,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const call = new SharedCall(kind, item, signal);
    if (this.#pools) void this.#pool<Item, Answer>(this.#pools, pool).add(call);
    else void sendAlone(call);
    return call.answered;
  }

  #pool<Item, Answer>(pools: Pools, name: string): Pool<Item, Answer> {
    let pool = pools.get(name);
    if (!pool) {
      pool = new Pool<unknown, unknown>(this.#mostUnderWay, () => void pools.delete(name));
      pools.set(name, pool);
    }
    // The name of a pool implies its types.
    return pool as unknown as Pool<Item, Answer>;
  }
}
