import { derivedName } from "../../kernel/names/derived-ids.ts";
import { RECORD_DEFAULTS } from "../../kernel/record/record.ts";
import type { TaskInfo } from "../../kernel/record/task-info.ts";
import type { PushReport, QueueOfPush } from "./options.ts";
import type { CallbackQueue, PushTask, PushTools } from "./types.ts";

const LONGEST_ID = 128;

/**
 * Adds the task of a callback. Its id derives from the delivery's, so that a repeat adds nothing; that of a failure from
 * the attempt, too, so that a delivery that is redriven can fail again.
 */
export async function callBack(
  queue: QueueOfPush,
  { id, group, headers, attempt }: PushTask,
  tools: PushTools | undefined,
  outcome: { readonly kind: "callback" | "failed" } & Pick<PushReport, "status" | "body" | "error">,
): Promise<void> {
  const { kind: of, ...result } = outcome;
  const kind = of === "failed" ? `failed.${attempt}` : of;
  const readable = `${id}.${kind}`;
  const own = readable.length <= LONGEST_ID ? readable : await derivedName("push", kind, id);
  const report: PushReport = { id, group, headers, attempt, ...result };
  await opened(tools, queue).enqueue(report as never, { id: own });
}

/** Whether an attempt is the task's last one: if it fails, the task is a dead letter. */
export async function isLastAttempt(
  queue: QueueOfPush,
  { id }: PushTask,
  tools: PushTools | undefined,
): Promise<boolean> {
  const info = (await opened(tools, queue).get(id)) as TaskInfo | null;
  const most = info?.options?.maxAttempts ?? RECORD_DEFAULTS.maxAttempts;
  return info !== null && most > 0 && info.charged >= most;
}

function opened(tools: PushTools | undefined, queue: QueueOfPush): CallbackQueue {
  if (!tools) throw new Error("callbacks of push need the tools of a deployment");
  return tools.queue(queue as never);
}
