import { publishesNoEvents } from "../../log/lines.ts";
import { toConsole } from "../../log/logger.ts";

/**
 * Makes what looks whether a queue publishes events, and says once in the log if it does not. It throws nothing: the
 * setting may be switched on a moment later, and events then arrive.
 * @param isOn reads the setting `events`. If that fails, the queue counts as one that publishes
 */
export function noteNoEvents(queue: string, isOn: () => Promise<boolean>): () => void {
  let isNoted = false;
  const look = async () => {
    if (await isOn().catch(() => true)) return;
    if (!isNoted) toConsole(publishesNoEvents(queue));
    isNoted = true;
  };
  return () => {
    if (!isNoted) void look();
  };
}
