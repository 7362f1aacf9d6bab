import { SluiceError } from "../errors.ts";
import { wholeNumber } from "../kernel/options/validation.ts";
import { noteRedisTime, redisTime } from "../kernel/clock.ts";
import type { Transport } from "../kernel/transport.ts";

/** Thrown in place of a request for which a budget has no room. The request was not sent. */
export class RequestRefused extends SluiceError {
  constructor(most: number) {
    super("aborted", `the request was not sent, because the budget of ${most} requests is used up`);
  }
}

/**
 * How many requests one invocation of a function may still send. Platforms such as Cloudflare limit them, and
 * count all that an invocation sends. So all drains of an invocation share one budget.
 * @example
 * const requests = new RequestBudget(50);
 * await drain(emails, send, { requests });
 * await drain(reports, render, { requests });
 */
export class RequestBudget {
  /** How many requests there are in all. */
  readonly most: number;
  #used = 0;
  #reserved = 0;

  /**
   * @param most how many requests there are in all, at least 1
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(most: number) {
    this.most = wholeNumber(most, "requests", 1, Number.MAX_SAFE_INTEGER);
  }

  /** How many requests are left, those included that running drains keep for their last settle; 0 or more. */
  get left(): number {
    return Math.max(0, this.most - this.#used);
  }

  /** How many of those that are left no running drain keeps. */
  get free(): number {
    return Math.max(0, this.most - this.#used - this.#reserved);
  }

  /** How many are left to a running drain, those included that it keeps itself; 0 or more. */
  leftTo(kept: number): number {
    return Math.max(0, this.most - this.#used - this.#reserved + kept);
  }

  /**
   * Counts requests that no drain of this budget counts, such as those of the function's own code.
   * @param count how many. Default: 1
   */
  use(count = 1): void {
    this.#used += count;
  }

  /**
   * Keeps requests for later.
   * @returns gives them back
   */
  reserve(count: number): () => void {
    this.#reserved += count;
    let isKept = true;
    return () => {
      if (isKept) this.#reserved -= count;
      isKept = false;
    };
  }

  /**
   * Counts all that goes through a transport, resends included. It refuses nothing.
   * @returns the transport to use instead
   */
  counted(transport: Transport): Transport {
    return withOnSend(transport, () => this.use());
  }
}

/** What a transport to several databases has beside. */
export interface SeveralDatabases {
  readonly databases: number;
  isDown(place: number): boolean;
}

/**
 * A transport that calls `onSend` before each copy of a request that it sends, and does not send it if that throws.
 * If the transport itself reports no copies, it calls it once for each request. A linked transport also reports the requests
 * that follow from one.
 * @param onSend its argument says whether it is not the first copy
 */
export function withOnSend(transport: Transport, onSend: (isMore?: boolean) => void): Transport {
  const several: Transport & Partial<SeveralDatabases> = transport;
  const { database, prefix, cluster, connected, passTurns } = several;
  const counted: Transport & Partial<SeveralDatabases> = {
    database,
    prefix,
    connected,
    cluster,
    passTurns,
    async send(commands, options = {}) {
      if (commands.length > 0) onSend();
      let copies = 0;
      return transport.send(commands, {
        ...options,
        onSend: () => {
          // The first one is counted already.
          if (copies++ > 0) onSend(true);
          options.onSend?.();
        },
      });
    },
    ...(several.subscribe && {
      async subscribe(channel, options) {
        onSend();
        return several.subscribe?.(channel, options) as ReturnType<NonNullable<Transport["subscribe"]>>;
      },
    }),
    ...(several.isDown && { isDown: (place) => several.isDown?.(place) === true }),
  };
  noteRedisTime(counted, redisTime(transport));
  return counted;
}
