import { hookFailed } from "../../log/lines.ts";
import { type Log, toConsole } from "../../log/logger.ts";

/**
 * Calls a hook of the caller with what happened to a task. If the hook fails, logs one line.
 * @param name of the hook, for that line
 * @returns when the hook has ended; never rejects
 */
export async function callHook<Subject extends { readonly queue: string; readonly id: string }>(
  name: string,
  hook: (subject: Subject) => unknown,
  subject: Subject,
  log: Log = toConsole,
): Promise<void> {
  try {
    await hook(subject);
  } catch (error) {
    log(hookFailed(name, subject.queue, subject.id, error));
  }
}
