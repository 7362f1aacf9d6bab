import { timeUntil } from "../../kernel/clock.ts";
import { newToken } from "../../kernel/names/ids.ts";
import { DEFAULT_PREFIX } from "../../kernel/names/keys.ts";
import { keyPrefix, onlyOptions } from "../../kernel/options/validation.ts";
import { checkedTransport, type Transport } from "../../kernel/transport.ts";
import type { Waker } from "./waker.ts";

/** Only instants within this time are published, ms: each server finds later ones by its own sweeps. */
const HORIZON = 120_000;

/** The ways of a waker that publishes. */
export interface Publishing {
  readonly wake: (queue: string) => Promise<void>;
  readonly wakeAt: (queue: string, at: number) => Promise<void>;
}

/**
 * The channel of wakes. A message has words, separated by spaces: the queue; when it wants its consumer, epoch ms, 0
 * for now; and who sent it.
 * @throws {SluiceError} `invalid_argument`
 */
export function wakeChannel(prefix: string = DEFAULT_PREFIX): string {
  return `${keyPrefix(prefix)}:wakes`;
}

/** @param sender a name of this process, which hears its own messages too */
export function publishing(transport: Transport, channel: string, sender: string): Publishing {
  const publish = async (queue: string, at: number) => {
    const [outcome] = await transport.send([["PUBLISH", channel, `${queue} ${at} ${sender}`]]);
    if (outcome && "error" in outcome) throw outcome.error;
  };
  return {
    wake: (queue) => publish(queue, 0),
    async wakeAt(queue, at) {
      if (timeUntil(transport, at) <= HORIZON) await publish(queue, at);
    },
  };
}

export interface PubSubWakerOptions extends Omit<Waker, "wake" | "wakeAt" | "sweepAt"> {
  /** That of the servers' keys, their `SLUICE_PREFIX`. @default that of the transport, or "sluice" */
  readonly prefix?: string | undefined;
}

/**
 * Wakes consumers in servers through Redis itself, by PUBLISH: one more command for each wake. Every server hears it
 * that uses the same database over TCP, or has `SLUICE_WAKE_PUBSUB=on`. It also announces tasks that are due within
 * two minutes.
 * @param transport reaches the database of the queue
 * @returns a waker for the `wake` option of a `Queue` or `Producer`
 * @throws {SluiceError} `invalid_argument`
 * @example
 * const transport = resp(process.env);
 * const emails = new Queue<Email>("emails", { transport, wake: pubSubWaker(transport) });
 */
export function pubSubWaker(transport: Transport, options: PubSubWakerOptions = {}): Waker {
  onlyOptions(options, ["prefix", "queues", "window", "waitUntil", "onError"]);
  const { prefix = checkedTransport(transport).prefix, ...waker } = options;
  return { ...waker, ...publishing(transport, wakeChannel(prefix), newToken()) };
}
