import { abortedBySignal, invalidArgument } from "../../errors.ts";
import type { Transport } from "../../kernel/transport.ts";
import type { SingleCall } from "./single-call.ts";
import type { Shareable } from "./together/shared-call.ts";
import { endOfTurn, GATHER_STEPS } from "./turn.ts";

/**
 * Which single calls share a request. `"turn"`: calls of one instance in the same turn of the event loop; on
 * platforms that cannot tell its end, calls directly after each other. Calls of two requests of a Worker
 * never share one. `"in-flight"`: calls of all instances with the same transport object; a call made while
 * such a request is under way waits for its answer, at most 250 ms. `false`: none.
 */
export type Coalesce = "turn" | "in-flight" | false;

/** What sends several calls in one request. It is loaded when there are several. */
type Together = typeof import("./together/index.ts");

/** A kind of call that can share a request with others. */
export interface Kind<Item, Answer> {
  /** Sends a call that shares its request with no other. */
  readonly alone: (item: Item) => Promise<Answer>;
  readonly together: (code: Together) => Shareable<Item, Answer>;
}

let together: Together | undefined;

/** The promise is not kept, because requests of a Worker may not share one. */
const loadTogether = async (): Promise<Together> => (together ??= await import("./together/index.ts"));

/** Makes single calls, joined into shared requests. */
export class Coalescer {
  readonly #mode: Coalesce;
  readonly #transport: Transport;
  /** The calls of this turn, by their pools, while others may join them. */
  readonly #open = new Map<string, SingleCall<never, never>[]>();

  /** @throws {SluiceError} `invalid_argument` */
  constructor(mode: Coalesce = "turn", transport: Transport) {
    if (!["turn", "in-flight", false].includes(mode)) {
      throw invalidArgument("coalesce", 'must be "turn", "in-flight" or false');
    }
    this.#mode = mode;
    this.#transport = transport;
  }

  /**
   * Makes a call.
   * @param kind the kind of request to send
   * @param pool the name of a pool. Only calls in the same pool share a request, so the name has the queue's
   *   key, the kind, and all else that must be equal
   * @param item what to send
   * @returns the answer
   * @throws {SluiceError} `aborted`, and what the request throws
   */
  call<Item, Answer>(
    kind: Kind<Item, Answer>,
    pool: string,
    item: Item,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    if (!this.#mode) return kind.alone(item);
    return new Promise((resolve, reject) => {
      const call = { item, signal, resolve, reject };
      if (this.#mode === "turn") return this.#gather(kind, pool, call);
      loadTogether()
        .then((code) => code.joinInFlight(this.#transport, pool, kind.together(code), call))
        .catch(reject);
    });
  }

  /** Adds a call to those of its pool in this turn. The first one sends them when the turn has ended. */
  #gather<Item, Answer>(kind: Kind<Item, Answer>, pool: string, call: SingleCall<Item, Answer>): void {
    // The name of a pool implies its types.
    const open = this.#open as unknown as Map<string, SingleCall<Item, Answer>[]>;
    const others = open.get(pool);
    if (others) return void others.push(call);
    const calls = [call];
    open.set(pool, calls);
    const send = async () => {
      await endOfTurn(GATHER_STEPS);
      open.delete(pool);
      if (calls.length > 1) {
        const code = await loadTogether();
        return code.sendTogether(kind.together(code), calls);
      }
      if (call.signal?.aborted) throw abortedBySignal(false);
      call.resolve(kind.alone(call.item));
    };
    send().catch((error: unknown) => calls.forEach(({ reject }) => reject(error)));
  }
}
