import type { DeadLetter } from "../kernel/record/dead-letter.ts";
import { callBack } from "./callbacks.ts";
import type { Message } from "./message.ts";
import type { Session } from "./session.ts";

/** Publishes the failure callback of a message whose last attempt was lost, as with the process that delivered it. */
export async function reportLost({ queue, id }: DeadLetter, session: Session): Promise<void> {
  const task = await session.open(queue).queue().get(id, { payload: true });
  const message = task?.payload as Partial<Message> | undefined;
  if (!task || message?.url === undefined) return;
  const lost = {
    status: 0,
    headers: new Headers(),
    body: "the attempt was lost with the process that made it",
  };
  const attempted = {
    task,
    queue,
    message: message as Message,
    retried: Math.max(0, task.charged - 1),
    ...lost,
  };
  await callBack(session, message.failureCallback, attempted, true);
}
