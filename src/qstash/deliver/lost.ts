import type { DeadLetter } from "../../kernel/record/dead-letter.ts";
import { callBack } from "./callbacks.ts";
import { keepLimits } from "../flow-control/limits.ts";
import type { Message } from "../message.ts";
import type { Session } from "../session.ts";

const LOST = "the attempt was lost with the process that made it";

/**
 * Publishes the failure callback of a message whose last attempt was lost with its process, or was stopped. Other
 * attempts have published it themselves.
 */
export async function reportLost({ queue, id, error }: DeadLetter, session: Session): Promise<void> {
  if (/^(?:FailedDelivery|NonRetryableError)$/.test(error?.name ?? "")) return;
  const task = await session.open(queue).queue().get(id, { payload: true });
  const message = task?.payload as Partial<Message> | undefined;
  if (!task || message?.url === undefined) return;
  const attempted = {
    task,
    queue,
    message: message as Message,
    retried: Math.max(0, task.charged - 1),
    status: 0,
    headers: new Headers(),
    bytes: new TextEncoder().encode(error?.message ?? LOST),
  };
  if (message.flowControl) await keepLimits(session, message.flowControl);
  await callBack(session, message.failureCallback, attempted, true);
}
