import type { Transport } from "../../../kernel/transport.ts";
import type { SingleCall } from "../single-call.ts";
import { endOfTurn, GATHER_STEPS } from "../turn.ts";
import { allReady, sendRequest, type Shareable, SharedCall, takeFirst } from "./shared-call.ts";

/** After an answer, how many microtasks its callers have to join the next request with their next calls. */
const REJOIN_STEPS = 16;

/** How many requests of a kind may be under way. */
const MAX_UNDER_WAY = 1;

/** How long a request delays the next of its kind, ms. A lost request must not delay others for long. */
const MAX_DELAY = 250;

/** Calls that can share requests. */
class Pool<Item, Answer> {
  readonly #onIdle: () => void;
  /** The group of this turn, while calls may still join it. */
  #open: SharedCall<Item, Answer>[] | undefined;
  /** How many groups are open, or wait for items. */
  #groups = 0;
  /** Calls that are ready to be sent, in order. */
  #waiting: SharedCall<Item, Answer>[] = [];
  #underWay = 0;

  constructor(onIdle: () => void) {
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
    await allReady(group);
    this.#groups--;
    this.#waiting = this.#waiting.concat(group);
    this.#send();
  }

  /** Sends the calls that wait, as far as the limit allows. If a group is open, they go along with it. */
  #send(): void {
    if (this.#open) return;
    this.#waiting = this.#waiting.filter(({ done }) => !done);
    while (this.#waiting.length > 0 && this.#underWay < MAX_UNDER_WAY) {
      this.#underWay++;
      void this.#finish(sendRequest(takeFirst(this.#waiting)));
    }
    if (this.#groups + this.#waiting.length + this.#underWay === 0) this.#onIdle();
  }

  /** Waits until a request is answered, and makes room for the next. */
  async #finish(answered: Promise<void>): Promise<void> {
    let isCounted = true;
    const makeRoom = () => {
      if (!isCounted) return;
      isCounted = false;
      this.#underWay--;
      this.#send();
    };
    const timer = setTimeout(makeRoom, MAX_DELAY);
    await answered;
    clearTimeout(timer);
    await endOfTurn(REJOIN_STEPS);
    makeRoom();
  }
}

type Pools = Map<string, Pool<never, never>>;

/** The pools of each transport, for calls of all its queues. A pool is removed when it is idle. */
const inFlight = new WeakMap<Transport, Pools>();

/** Adds a call to those that wait for the answer of the request under way. */
export function joinInFlight<Item, Answer>(
  transport: Transport,
  name: string,
  kind: Shareable<Item, Answer>,
  caller: SingleCall<Item, Answer>,
): void {
  const pools: Pools = inFlight.get(transport) ?? new Map();
  inFlight.set(transport, pools);
  const pool = pools.get(name) ?? new Pool<never, never>(() => void pools.delete(name));
  pools.set(name, pool);
  // The name of a pool implies its types.
  void (pool as unknown as Pool<Item, Answer>).add(new SharedCall(kind, caller));
}
