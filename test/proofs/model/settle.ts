import type { RejectReason, Settled } from "../../../src/index.ts";
import { follow } from "./lines.ts";
import { endLease, exhausted, finish, newEnds, putInLine, waitAgain, type Ends } from "./transitions.ts";
import {
  beginMinute,
  isGrouped,
  noteError,
  report,
  type ModelTask,
  type QueueState,
  type Settlement,
} from "./state.ts";

/** One settlement; durations in ms. */
export interface ModelSettlement {
  readonly receipt: string;
  readonly id: string;
  readonly lease: number;
  readonly token: string;
  readonly outcome: "complete" | "reject" | "requeue" | "unstarted" | "extend";
  /** How long to keep the record, the delay, or the lease. */
  readonly ms?: number | undefined;
  /** False refunds the attempt. */
  readonly count?: boolean | undefined;
  /** The result, the error, or the progress. */
  readonly text?: unknown;
}

/**
 * Settles, in order; each gets an answer of its own.
 * @param key the call's: it distinguishes a late copy of an extend from the newest extend, whose progress the
 * copy leaves
 */
export function settle(
  queue: QueueState,
  now: number,
  settlements: readonly ModelSettlement[],
  key?: string,
): Settled[] {
  const ends = newEnds();
  const later = new Map<string, number>();
  const answers = settlements.map((settlement): Settled => {
    const { receipt, id, lease, token, outcome } = settlement;
    const task = queue.tasks.get(id);
    if (!task || task.state !== "working" || task.lease !== lease || task.token !== token) {
      const again = task?.settled?.receipt === `${lease},${token},${outcome}` && task.settled.answer;
      return again ? answerOf(receipt, again) : { receipt, ok: false, code: "lease_lost" };
    }
    if (outcome === "extend") {
      const deadline = now + (settlement.ms ?? task.leasedFor ?? 0);
      later.set(id, Math.max(later.get(id) ?? (queue.working.get(id) as number), deadline));
      const extended = task.progressBy ?? [];
      const isLate =
        key !== undefined && extended.includes(`${lease} ${key}`) && extended.at(-1) !== `${lease} ${key}`;
      if (settlement.text !== undefined && !isLate) {
        task.progress = settlement.text;
        if (queue.settings.events) beginMinute(queue, now);
        if (extended.at(-1) !== `${lease} ${key}`) task.progressBy = [...extended, `${lease} ${key}`];
      }
      const flag = task.flagged ? { cancelRequested: true as const } : {};
      return { receipt, ok: true, state: "working", deadlineAt: later.get(id) as number, ...flag };
    }
    later.delete(id);
    const answer = release(queue, now, task, settlement, ends);
    task.settled = { receipt: `${lease},${token},${outcome}`, answer };
    return answerOf(receipt, answer);
  });
  putInLine(queue, ends);
  follow(queue);
  for (const [id, deadline] of later) queue.working.set(id, deadline);
  return answers;
}

function answerOf(receipt: string, { state, reason, due, flagged }: Settlement): Settled {
  return {
    receipt,
    ok: true,
    state,
    ...(reason !== undefined && { reason }),
    ...(state === "delayed" && { dueAt: due }),
    ...(flagged && { cancelRequested: true as const }),
  };
}

/** The state to which an outcome takes a task. */
function destination(
  task: ModelTask,
  { outcome, ms = 0 }: ModelSettlement,
  now: number,
): Pick<Settlement, "state" | "reason" | "due"> {
  const ended = (reason: RejectReason) => ({ state: "rejected" as const, reason, due: 0 });
  if (outcome === "complete") return { state: "completed", reason: undefined, due: 0 };
  if (task.flagged) return ended("cancelled");
  if (outcome === "reject") return ended("rejected");
  if (outcome === "requeue" && exhausted(task)) return ended("attempts_exhausted");
  if (outcome === "requeue" && ms > 0) return { state: "delayed", reason: undefined, due: now + ms };
  return { state: "pending", reason: undefined, due: 0 };
}

function release(
  queue: QueueState,
  now: number,
  task: ModelTask,
  settlement: ModelSettlement,
  ends: Ends,
): Settlement {
  const { outcome, ms, count = true } = settlement;
  if (!count || outcome === "unstarted") task.charged--;
  if (outcome !== "complete" && outcome !== "unstarted" && settlement.text !== undefined) {
    noteError(
      task,
      now,
      typeof settlement.text === "string" ? settlement.text : JSON.stringify(settlement.text),
    );
  }
  const answer = { ...destination(task, settlement, now), flagged: task.flagged };
  const text = settlement.text !== undefined || outcome === "complete" ? settlement.text : task.text;
  endLease(queue, task);
  if (outcome !== "unstarted" && answer.reason !== "cancelled") {
    report(queue, "runs.count", now);
    report(queue, "runs.total", now, Math.max(0, now - (task.dequeuedAt ?? now)));
  }
  if (answer.state === "completed" || answer.state === "rejected") {
    const ttl = outcome === "requeue" ? undefined : ms;
    finish(queue, task, { now, state: answer.state, reason: answer.reason, ttl, text });
    return answer;
  }
  task.text = text;
  if (outcome === "requeue") {
    task.requeuedAt = now;
    task.requeues++;
    task.expired = 0;
    report(queue, "requeued", now);
  }
  const unstarted = outcome === "unstarted";
  const due = answer.due > 0 ? answer.due : undefined;
  waitAgain(queue, task, ends, { now, place: unstarted ? "front" : "back", due });
  task.handedBack = unstarted && isGrouped(task);
  return answer;
}
