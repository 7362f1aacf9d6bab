import { hearWakes } from "../../features/waking/hear-wakes.ts";
import { timeUntil } from "../../kernel/clock.ts";
import { wakesNotHeard } from "../../log/lines.ts";
import type { Log } from "../../log/logger.ts";
import type { Alarms } from "../alarms.ts";
import type { Heard } from "../service.ts";

/** What a process does when another one wakes a consumer. */
export interface HearingProcess {
  readonly alarms: Alarms;
  /** Starts the consumer of a queue. */
  readonly start: (queue: string) => void;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Starts the consumers of this process that others wake through Redis, until the signal aborts. Never throws. */
export function hearOthers(
  { transport, channel, sender, queues }: Heard,
  { alarms, start, signal, log }: HearingProcess,
): void {
  void hearWakes(
    transport,
    channel,
    {
      sender,
      onOpen: () => queues.forEach(start),
      onWake(queue, at) {
        if (!queues.has(queue)) return;
        if (at === undefined) start(queue);
        else alarms.set("wake", queue, timeUntil(transport, at));
      },
      onError: (error) => log(wakesNotHeard(error)),
    },
    signal,
  );
}
