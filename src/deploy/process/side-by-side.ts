import { type Config, type Environment, wakesThroughRedis } from "../../config.ts";
import { sharedOut } from "../../drain/with-scale-out.ts";
import { hearWakes, publishing, type Waker, wakeChannel } from "../../features/waking/index.ts";
import { timeUntil } from "../../kernel/clock.ts";
import { newToken } from "../../kernel/names/ids.ts";
import type { Transport } from "../../kernel/transport.ts";
import { wakesNotHeard } from "../../log/lines.ts";
import type { Log } from "../../log/logger.ts";
import type { Alarms } from "../alarms.ts";
import type { Platform } from "../options.ts";
import { atMostEvery } from "./at-most-every.ts";

/** The drain of a queue wakes other processes at most this often, ms. */
const PUBLISH_EVERY = 100;

/** What a process does when another one wakes a consumer. */
interface Hearing {
  /** The queues that have a consumer here. */
  readonly queues: ReadonlySet<string>;
  /** Starts the consumer of a queue. */
  readonly start: (queue: string) => void;
  readonly alarms: Alarms;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** How processes that share a Redis wake each other: by its pub/sub. */
export class SideBySide {
  readonly #sender = newToken();
  #at: { readonly channel: string; readonly transport: Transport } | undefined;
  #hears = false;

  /** Makes a drain's source that wakes the others when it may leave tasks to them. */
  readonly sharing: Platform["sharing"] = (source, wakeOthers) =>
    sharedOut(source, atMostEvery(PUBLISH_EVERY, wakeOthers));

  /**
   * Makes the waker of the other processes.
   * @returns undefined if it is off
   * @throws {SluiceError} `invalid_argument` for an invalid variable
   */
  waker(env: Environment, { redis, prefix }: Config, transport: Transport): Waker | undefined {
    if (!wakesThroughRedis(env, redis)) return undefined;
    this.#at = { channel: wakeChannel(prefix), transport };
    return publishing(transport, this.#at.channel, this.#sender);
  }

  /** Starts the consumers that other processes wake. Only the first call after that of {@link waker} has an effect. */
  hear({ queues, start, alarms, log, signal }: Hearing): void {
    if (this.#hears || !this.#at || queues.size === 0) return;
    this.#hears = true;
    const { channel, transport } = this.#at;
    const listener = {
      sender: this.#sender,
      onOpen: () => queues.forEach(start),
      onWake(queue: string, at: number | undefined) {
        if (!queues.has(queue)) return;
        if (at === undefined) start(queue);
        else alarms.set("wake", queue, timeUntil(transport, at));
      },
      onError: (error: unknown) => log(wakesNotHeard(error)),
    };
    void hearWakes(transport, channel, listener, signal);
  }
}
