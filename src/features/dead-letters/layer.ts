import type { OnDeadLetter } from "../../kernel/record/dead-letter.ts";
import type { SettleBatch, SettleReply, Store } from "../../kernel/store.ts";
import { reportExpiredTasks } from "./expired.ts";

/** Reports the dead letters that a queue's calls make or find. */
export function reportDeadLetters(store: Store, onDeadLetter: OnDeadLetter): Store {
  const next = reportExpiredTasks(store, onDeadLetter);
  const { expired: onExpired } = next;
  const reported = async <Reply extends SettleReply>(
    { settlements }: SettleBatch,
    reply: Reply,
  ): Promise<Reply> => {
    if (reply.settled.some((one) => one.ok && one.state === "rejected")) {
      const { reportSettled } = await import("../../kernel/record/settled-dead-letters.ts");
      reportSettled(onDeadLetter, next.queue.name, settlements, reply.settled);
    }
    return reply;
  };
  return {
    ...next,
    take: (request) => next.take({ ...request, onExpired }),
    settle: async (batch) => reported(batch, await next.settle(batch)),
    settleAndTake: async (batch, request) =>
      reported(batch, await next.settleAndTake(batch, { ...request, onExpired })),
  };
}
