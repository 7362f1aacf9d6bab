import { redisTime } from "../kernel/clock.ts";
import type { Open } from "../open/opening.ts";
import { messages } from "./message.ts";
import type { QStashOptions } from "./options.ts";
import { type Kind, Records } from "./records.ts";

/** What a request to the dialect, or a delivery, works with. */
export interface Session {
  readonly settings: QStashOptions;
  /** Opens queues; an enqueue wakes their consumers. */
  readonly open: Open;
  readonly records: <T>(kind: Kind) => Records<T>;
}

export function sessionOf(settings: QStashOptions, open: Open): Session {
  const { transport, prefix } = open(messages).options;
  return { settings, open, records: (kind) => new Records(transport, prefix, kind) };
}

/** Redis's time, epoch ms, as nearly as it is known. */
export function timeOf({ open }: Session): number {
  const { transport, now } = open(messages).options;
  return Math.floor(now?.() ?? redisTime(transport));
}
