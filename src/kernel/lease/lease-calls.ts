/** Taking tasks from one shard, and settling them there. */
import { leaseOf } from "../record/read-record.ts";
import { dequeueScript, settleAndDequeueScript, settleScript } from "../scripts/take-scripts.ts";
import { replyOf } from "../scripts/replies.ts";
import { type Call, type CallOfScript, run } from "../call.ts";
import type { Shard } from "../shard.ts";
import type { SettlementArguments, Taken, TakeRequest } from "../store.ts";

/**
 * Most settlements of one script call: more would keep Redis busy for too long. As many are plain, if they complete
 * plain tasks.
 */
export const MOST_SETTLED = 240;

/** Most script calls of one take. Each skips about 200 entries that cannot be delivered. */
const MAX_CALLS = 50;

export type TakeReply = ReturnType<typeof dequeueScript.decode>;
export type SettleReply = ReturnType<typeof settleScript.decode>;

/**
 * The call that takes tasks from a shard. Usually each call has its own token, and marks it as used. If the caller
 * gave the token, all calls of the dequeue have it, so that a resend of the dequeue gets the tasks that any of them
 * leased. Then only the last call marks it as used: a copy that arrives later leases no tasks, which would have no
 * holder.
 */
export function takeCall(shard: Shard, request: TakeRequest): CallOfScript<TakeReply> {
  const { max, lease, maxBytes, worker, info, token, mayBeCopy, last } = request;
  const marksToken = last || !mayBeCopy;
  const call = shard.call(dequeueScript, {
    maxTasks: String(max),
    lease: String(lease),
    maxBytes: String(maxBytes),
    worker,
    info,
    token,
    resend: marksToken && mayBeCopy ? "1" : "",
  });
  if (!marksToken) return call;
  const { command } = call;
  const resendArgs = command.args.with(dequeueScript.args.indexOf("resend"), "1");
  return { ...call, command: { ...command, resendArgs } };
}

/** The call that settles tasks of a shard. Notes the shard, if it is one of several and tasks become ready there. */
export function settleCall(
  shard: Shard,
  items: readonly SettlementArguments[],
  token: string,
): CallOfScript<SettleReply> {
  // A queue that is not divided stays registered while it has tasks.
  const isNoted =
    shard.isPart && items.some(({ terms }) => terms.startsWith("requeue ") || terms === "unstarted");
  return shard.call(settleScript, { call: token }, items, isNoted ? shard.note() : undefined);
}

/**
 * Joins a settle and a take of the same shard into one call.
 * @param lookAfter as the request has it
 */
export function bothCall(
  settle: CallOfScript<SettleReply>,
  take: CallOfScript<TakeReply>,
  lookAfter?: number,
): Call<{ readonly settled: SettleReply; readonly taken: TakeReply }> {
  const ofSettle = settle.command.args.slice(settleScript.args.indexOf("call"));
  const settlements = [lookAfter === undefined ? "" : String(lookAfter), ...ofSettle];
  const { args, resendArgs, keys } = take.command;
  return {
    note: settle.note,
    command: {
      script: settleAndDequeueScript.script,
      keys,
      args: [...args, ...settlements],
      ...(resendArgs && { resendArgs: [...resendArgs, ...settlements] }),
    },
    read: (outcome) => {
      const { settled, dequeued } = settleAndDequeueScript.decode(replyOf(outcome));
      return { settled, taken: dequeued };
    },
  };
}

/**
 * What a take has leased. Repeats its call as long as it finds only entries that cannot be delivered.
 * @param first the reply to the call
 */
export async function takenBy(
  shard: Shard,
  request: TakeRequest,
  { command, read }: CallOfScript<TakeReply>,
  first: TakeReply,
): Promise<Taken> {
  const { requests, onExpired, token, lease } = request;
  // The token is the same: if any copy of a call leases tasks, the others return the same tasks.
  const again = { command: { ...command, args: command.resendArgs ?? command.args }, read };
  let reply = first;
  onExpired?.(reply.deadLetters);
  for (let calls = 1; reply.more && calls < MAX_CALLS; calls++) {
    reply = await run(requests.over(shard.queue.transport), again);
    onExpired?.(reply.deadLetters);
  }
  const { tasks, nextDueAt, paused } = reply;
  const [task] = tasks;
  const leasedAt = task && task.deadlineAt - (leaseOf(task.record) ?? lease);
  // It ended at its limit of bytes, or at a task whose leases expired.
  const endedEarly = task !== undefined && tasks.length < request.max && nextDueAt === leasedAt;
  return {
    tasks,
    token,
    place: shard.place,
    nextDueAt: nextDueAt > 1 ? nextDueAt : null,
    paused,
    endedEarly,
  };
}
