import { sleep } from "../../sleep.ts";
import type { Transport } from "../../kernel/transport.ts";

/** From a subscription that ended to the next one, ms; doubled with each failure. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 30_000;

export interface WakeListener {
  /** This process's name: its own messages are ignored. */
  readonly sender: string;
  /** Called when the subscription is open. Wakes before that were missed. */
  readonly onOpen: () => void;
  /** @param at when the queue's next task is due, epoch ms by Redis's clock; undefined for now */
  readonly onWake: (queue: string, at: number | undefined) => void;
  /** Called with the second failure in a row; not again until a subscription was open. */
  readonly onError: (error: unknown) => void;
}

/**
 * Hears the wakes that others publish: one subscription, opened again whenever it ends.
 * @returns resolves when the signal has aborted; at once if the transport cannot subscribe
 */
export async function hearWakes(
  transport: Transport,
  channel: string,
  { sender, onOpen, onWake, onError }: WakeListener,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted && transport.subscribe) {
    try {
      const messages = await transport.subscribe(channel, { signal });
      failures = 0;
      onOpen();
      for await (const message of messages) {
        const [queue = "", at, from] = message.split(" ");
        if (from !== sender) onWake(queue, Number(at) || undefined);
      }
    } catch (error) {
      // The first failure is often one lost connection, and the next one opens.
      if (++failures === 2 && !signal.aborted) onError(error);
    }
    await sleep(Math.min(FIRST_PAUSE * 2 ** failures, LONGEST_PAUSE), signal);
  }
}
