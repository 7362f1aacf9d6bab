import { messageOf } from "../../errors.ts";

/**
 * Calls a hook of the caller with what happened to a task. If the hook fails, writes one line to the console.
 * @param name of the hook, for that line
 * @returns when the hook has ended; never rejects
 */
export async function callHook<Subject extends { readonly queue: string; readonly id: string }>(
  name: string,
  hook: (subject: Subject) => unknown,
  subject: Subject,
): Promise<void> {
  try {
    await hook(subject);
  } catch (error) {
    const { queue, id: task } = subject;
    console.error(JSON.stringify({ [name]: queue, task, failed: messageOf(error) }));
  }
}
