import { derivedName } from "../../kernel/names/derived-ids.ts";
import { RECORD_DEFAULTS } from "../../kernel/record/record.ts";
import type { DeadLetter } from "../../kernel/record/dead-letter.ts";
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
  { id, group, headers, attempt }: Pick<PushTask, "id" | "group" | "headers" | "attempt">,
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

/** The names of errors of attempts that were stopped, or that could not begin or add their callback. */
const WITHOUT_CALLBACK = /^(?:StoppedError|SluiceError)$/;

/** Adds the task of a failure for a dead letter whose last attempt has not added it. */
export async function reportLost(
  callback: QueueOfPush,
  { queue, id, attempts: attempt, error }: DeadLetter,
  tools: PushTools,
): Promise<void> {
  if (error && !WITHOUT_CALLBACK.test(error.name ?? "")) return;
  const { group, headers } = ((await opened(tools, queue).get(id)) ?? {}) as Partial<TaskInfo>;
  const reason = error?.message ?? "the attempt was lost with its process";
  await callBack(callback, { id, group, headers, attempt }, tools, { kind: "failed", error: reason });
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
