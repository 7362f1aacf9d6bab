import { redisTime } from "../kernel/clock.ts";
import type { Open } from "../open/opening.ts";
import { messages } from "./message.ts";
import type { QStashOptions } from "./options.ts";
import { type Kind, Records } from "./records.ts";

/** What the dialect keeps. */
export interface Stored {
  /** Opens queues; an enqueue wakes their consumers. */
  readonly open: Open;
  readonly records: <T>(kind: Kind) => Records<T>;
}

/** What a request to the dialect, or a delivery, works with. */
export interface Session extends Stored {
  readonly settings: QStashOptions;
}

export function storedOf(open: Open): Stored {
  const { transport, prefix } = open(messages).options;
  return { open, records: (kind) => new Records(transport, prefix, kind) };
}

export const sessionOf = (settings: QStashOptions, open: Open): Session => ({ settings, ...storedOf(open) });

/** Redis's time, epoch ms, as nearly as it is known. */
export function timeOf({ open }: Stored): number {
  const { transport, now } = open(messages).options;
  return Math.floor(now?.() ?? redisTime(transport));
}
