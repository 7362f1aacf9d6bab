import { publishesNoEvents } from "../../log/lines.ts";
import { toConsole } from "../../log/logger.ts";
import { sleep } from "../../sleep.ts";

/** From when a listener connects to the look, ms: a server that has just started applies its declarations meanwhile. */
const LOOK_AFTER = 2_000;

/**
 * Makes what looks whether a queue publishes events, and says once in the log if it does not. It throws nothing: the
 * setting may be switched on later, and events then arrive.
 * @param isOn reads the setting `events`. If that fails, the queue counts as one that publishes
 * @param until ends it
 */
export function noteNoEvents(queue: string, isOn: () => Promise<boolean>, until: AbortSignal): () => void {
  let isNoted = false;
  const look = async () => {
    await sleep(LOOK_AFTER, until);
    if (until.aborted || (await isOn().catch(() => true))) return;
    if (!isNoted) toConsole(publishesNoEvents(queue));
    isNoted = true;
  };
  return () => {
    if (!isNoted) void look();
  };
}
