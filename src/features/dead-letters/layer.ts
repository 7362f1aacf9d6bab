import { type OnDeadLetter, reportSettled } from "../../kernel/record/dead-letter.ts";
import type { Settled, Settlement } from "../../kernel/options/types.ts";
import type { Store } from "../../kernel/store.ts";
import { reportExpiredTasks } from "./expired.ts";

/** Reports the dead letters that a queue's calls make or find. */
export function reportDeadLetters(store: Store, onDeadLetter: OnDeadLetter): Store {
  const next = reportExpiredTasks(store, onDeadLetter);
  const { expired: onExpired } = next;
  const reported = (settlements: readonly Settlement[], settled: Settled[]) => {
    reportSettled(onDeadLetter, next.queue.name, settlements, settled);
    return settled;
  };
  return {
    ...next,
    take: (request) => next.take({ ...request, onExpired }),
    settle: async (batch) => reported(batch.settlements, await next.settle(batch)),
    async settleAndTake(batch, request) {
      const { settled, taken } = await next.settleAndTake(batch, { ...request, onExpired });
      return { settled: reported(batch.settlements, settled), taken };
    },
  };
}
