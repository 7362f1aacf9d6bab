import { readReceipt } from "../../../src/queue/core/receipt.ts";
import type { OperationSettlement } from "../operations.ts";
import { DEAD_TTL, isExhausted, type ModelTask, type PartitionsState, RESULT_TTL } from "./state.ts";

/** Settles in order. @returns the answers */
export function settle(state: PartitionsState, items: readonly OperationSettlement[]): object[] {
  return items.map((item, i) => {
    const { receipt } = item;
    const { id, lease, token, partition } = readReceipt(receipt, "receipt");
    const task = state.tasks.get(id);
    const proof = `${lease},${token}`;
    if (!task || task.partition !== partition) return { receipt, ok: false, code: "lease_lost" };
    if (task.proof !== proof) {
      const { last } = task;
      const isResend = last?.proof === proof && last.outcome === item.outcome;
      return isResend && task.state !== "tombstone"
        ? last.answer
        : { receipt, ok: false, code: "lease_lost" };
    }
    const answer = settleOne(state, task, item, i);
    if (item.outcome !== "extend") task.last = { proof, outcome: item.outcome, answer };
    return answer;
  });
}

function settleOne(
  state: PartitionsState,
  task: ModelTask,
  { receipt, outcome, ms, count = true }: OperationSettlement,
  i: number,
): object {
  const { now } = state;
  const flag = task.isFlagged ? { cancelRequested: true } : {};
  if (outcome === "extend") {
    task.until = Math.max(task.until, now + (ms ?? task.leasedFor));
    return { receipt, ok: true, state: "working", deadlineAt: task.until, ...flag };
  }
  const isUncounted = outcome === "unstarted" || (outcome === "requeue" && !count);
  if (isUncounted) task.charged--;
  task.proof = "";
  if (outcome === "complete") {
    state.end(task, "completed", ms ?? RESULT_TTL);
    return { receipt, ok: true, state: "completed", ...flag };
  }
  const ended = (reason: string) => ({ receipt, ok: true, state: "rejected", reason, ...flag });
  if (task.isFlagged) {
    state.end(task, "cancelled", 0);
    return ended("cancelled");
  }
  if (outcome === "reject") {
    state.end(task, "rejected", ms ?? DEAD_TTL);
    return ended("rejected");
  }
  if (outcome === "unstarted") {
    state.ready(task);
    // It has its old place in its group.
    task.place = undefined;
    return { receipt, ok: true, state: "pending" };
  }
  if (isExhausted(task)) {
    state.end(task, "rejected", DEAD_TTL);
    return ended("attempts_exhausted");
  }
  task.expiredLeases = 0;
  if (ms !== undefined && ms > 0) {
    task.state = "delayed";
    task.until = now + ms;
    return { receipt, ok: true, state: "delayed", dueAt: task.until };
  }
  state.ready(task, state.step + i / 1_000);
  return { receipt, ok: true, state: "pending" };
}

/** Cancels a task. @returns the answer */
export function cancel(state: PartitionsState, task: ModelTask | undefined): object {
  if (!task || task.state === "tombstone") return { ok: false, code: "not_found" };
  if (task.state === "working") {
    task.isFlagged = true;
    return { ok: true, state: "working" };
  }
  if (task.state === "completed" || task.state === "rejected") return { ok: false, code: "already_ended" };
  if (task.state !== "cancelled") state.end(task, "cancelled", 0);
  return { ok: true, state: "rejected" };
}
