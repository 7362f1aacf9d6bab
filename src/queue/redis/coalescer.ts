/** Gathers single calls that are made together, so that they travel in one request. */
import { invalidArgument, SluiceError } from "../../errors.ts";
import { byteLength } from "../core/codec.ts";
import type { Transport } from "./transport.ts";

/**
 * Which single calls share a request. `"turn"`: those of one instance that are made in the same turn of the event loop, or
 * where the platform cannot tell its end directly after each other; so never those of two requests of a Worker.
 * `"in-flight"`: those of all instances with the same transport object; what is called while such a request is under way
 * waits for its answer, at most 250 ms. `false`: none.
 */
export type Coalesce = "turn" | "in-flight" | false;

/** How many microtasks a group stays open where the platform cannot tell the end of a turn. */
const GATHERING = 4;

/** How many microtasks the callers of an answer then have for their next calls, before what waited for it is sent. */
const REJOINING = 16;

/** How many requests of a kind `"in-flight"` lets be under way. */
const MOST_UNDER_WAY = 1;

/** How long a request holds back the next of its kind, ms: one that is lost must not hold back others for long. */
const PATIENCE = 250;

/** Most bytes of a group's items. */
const MAX_GROUP_BYTES = 8_000_000;

/** A kind of request that calls can share. */
export interface Shareable<Item, Answer> {
  /** Most calls of one request. */
  readonly most: number;
  /** What may be long in one call's part. @default nothing */
  readonly text?: (item: Item) => string;
  /** Sends one request, and answers or fails each call. What it throws fails those that have no answer by then. */
  readonly send: (calls: readonly Call<Item, Answer>[], signal: AbortSignal | undefined) => Promise<void>;
}

/** One caller's part of a request. */
export class Call<Item, Answer> {
  readonly kind: Shareable<Item, Answer>;
  readonly signal: AbortSignal | undefined;
  readonly answered: Promise<Answer>;
  /** Resolves when there is an item, or the call has failed. */
  readonly prepared: Promise<void>;
  /** What is sent of it. */
  item!: Item;
  ready = false;
  /** True once nobody waits for an answer any more. */
  done = false;
  sent = false;
  /** Called if its caller leaves before there is an answer. */
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
    const effect = this.sent ? "it may have taken effect" : "it was not sent";
    this.fail(new SluiceError("aborted", `the request was aborted by its signal; ${effect}`));
    this.onLeave?.();
  };

  #end(): boolean {
    if (this.done) return false;
    this.done = true;
    this.signal?.removeEventListener("abort", this.#leave);
    return true;
  }
}

/** Sends calls in one request, that of the first of them. */
async function dispatch<Item, Answer>(calls: readonly Call<Item, Answer>[]): Promise<void> {
  for (const call of calls) call.sent = true;
  try {
    await calls[0]?.kind.send(calls, signalOf(calls));
    if (calls.every(({ done }) => done)) return;
    throw new SluiceError("unexpected_reply", "the script gave fewer answers than it was asked for");
  } catch (error) {
    for (const call of calls) call.fail(error);
  }
}

/** What aborts a request: all of its callers together. */
function signalOf<Item, Answer>(calls: readonly Call<Item, Answer>[]): AbortSignal | undefined {
  if (calls.length === 1) return calls[0]?.signal;
  if (calls.some(({ signal }) => signal === undefined)) return undefined;
  const all = new AbortController();
  const onLeave = () => calls.every(({ done }) => done) && all.abort();
  for (const call of calls) call.onLeave = onLeave;
  return all.signal;
}

/** What Node, Bun and Deno have for the end of a turn. Written so that bundlers for the edge do not object to it. */
const { process: host } = globalThis as { process?: { nextTick?: (resolve: () => void) => void } };

/**
 * Resolves when all promises of this turn of the event loop have run that can; never waits for a timer.
 * @param steps after so many microtasks where the platform cannot tell
 */
async function endOfTurn(steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) await Promise.resolve();
  // Asked for by a microtask, it comes when no microtask is left.
  await new Promise<void>((resolve) => (host?.nextTick ? host.nextTick(resolve) : resolve()));
}

/** The calls that can share requests. */
class Lane<Item, Answer> {
  readonly #mostUnderWay: number;
  readonly #onIdle: () => void;
  /** Those of this turn, while others may still join them. */
  #open: Call<Item, Answer>[] | undefined;
  /** How many groups are open, or not prepared yet. */
  #groups = 0;
  /** Those that can be sent, in order of asking. */
  #waiting: Call<Item, Answer>[] = [];
  #underWay = 0;

  constructor(mostUnderWay: number, onIdle: () => void) {
    this.#mostUnderWay = mostUnderWay;
    this.#onIdle = onIdle;
  }

  add(call: Call<Item, Answer>): void {
    if (this.#open) this.#open.push(call);
    else void this.#gather((this.#open = [call]));
  }

  async #gather(group: readonly Call<Item, Answer>[]): Promise<void> {
    this.#groups++;
    await endOfTurn(GATHERING);
    this.#open = undefined;
    for (const call of group) if (!call.ready) await call.prepared;
    this.#groups--;
    this.#waiting = this.#waiting.concat(group);
    this.#send();
  }

  /** Sends what waits, as far as it may; what is being gathered sends it along. */
  #send(): void {
    if (this.#open) return;
    this.#waiting = this.#waiting.filter(({ done }) => !done);
    while (this.#waiting.length > 0 && this.#underWay < this.#mostUnderWay) void this.#request(this.#take());
    if (this.#groups + this.#waiting.length + this.#underWay === 0) this.#onIdle();
  }

  #take(): Call<Item, Answer>[] {
    let [count, bytes] = [0, 0];
    for (const { kind, item } of this.#waiting) {
      if (this.#waiting.length > 1) bytes += roughBytes(kind.text?.(item));
      if (count === kind.most || (count > 0 && bytes > MAX_GROUP_BYTES)) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #request(calls: readonly Call<Item, Answer>[]): Promise<void> {
    this.#underWay++;
    let counts = true;
    const makeWay = () => {
      if (!counts) return;
      counts = false;
      this.#underWay--;
      this.#send();
    };
    if (this.#mostUnderWay === Number.POSITIVE_INFINITY) {
      await dispatch(calls);
    } else {
      const timer = setTimeout(makeWay, PATIENCE);
      await dispatch(calls);
      clearTimeout(timer);
      await endOfTurn(REJOINING);
    }
    makeWay();
  }
}

/** The bytes of a text, or somewhat more: a short one is not worth counting. */
function roughBytes(text = ""): number {
  return text.length < 1_000 ? 3 * text.length : byteLength(text);
}

type Lanes = Map<string, Lane<unknown, unknown>>;

/** By transport, for calls of all its queues; a lane that is idle leaves. */
const inFlight = new WeakMap<Transport, Lanes>();

function lanesOf(transport: Transport): Lanes {
  const lanes: Lanes = inFlight.get(transport) ?? new Map();
  inFlight.set(transport, lanes);
  return lanes;
}

/** Makes single calls, together where it can. */
export class Coalescer {
  readonly #lanes: Lanes | undefined;
  readonly #mostUnderWay: number;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(mode: Coalesce | undefined, transport: Transport) {
    if (![undefined, "turn", "in-flight", false].includes(mode)) {
      throw invalidArgument("coalesce", 'must be "turn", "in-flight" or false');
    }
    this.#mostUnderWay = mode === "in-flight" ? MOST_UNDER_WAY : Number.POSITIVE_INFINITY;
    if (mode !== false) this.#lanes = mode === "in-flight" ? lanesOf(transport) : new Map();
  }

  /**
   * Makes a call.
   * @param lane only calls with the same one share a request: it names the queue's key, the kind, and what else is to
   *   be equal
   * @param item what is to be sent, when it is prepared; the others of a group wait for it
   */
  call<Item, Answer>(
    kind: Shareable<Item, Answer>,
    lane: string,
    item: Promise<Item>,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const call = new Call(kind, item, signal);
    if (this.#lanes) this.#lane<Item, Answer>(this.#lanes, lane).add(call);
    else void call.prepared.then(() => (call.done ? undefined : dispatch([call])));
    return call.answered;
  }

  #lane<Item, Answer>(lanes: Lanes, name: string): Lane<Item, Answer> {
    let lane = lanes.get(name);
    if (!lane) {
      lane = new Lane<unknown, unknown>(this.#mostUnderWay, () => void lanes.delete(name));
      lanes.set(name, lane);
    }
    // Whoever names a lane calls for one kind of thing.
    return lane as unknown as Lane<Item, Answer>;
  }
}
