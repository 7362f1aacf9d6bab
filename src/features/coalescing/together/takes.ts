import { newToken } from "../../../kernel/names/ids.ts";
import { writeReceipt } from "../../../kernel/names/receipt.ts";
import type { Store, Taken, TakeRequest } from "../../../kernel/store.ts";
import type { Shareable } from "./shared-call.ts";

/**
 * Most single takes that share a request. The script remembers larger batches in fewer slots, which are overwritten
 * sooner.
 */
const MAX_SHARED_TAKES = 100;

/** Takes a task for each of several callers with equal options, and hands them out in order of the calls. */
export function takeTogether(next: Store): Shareable<TakeRequest, Taken> {
  return {
    most: MAX_SHARED_TAKES,
    async send(calls, signal) {
      const [first] = calls;
      if (!first) return;
      const requests = first.item.requests.shared(signal);
      for (const { item } of calls) item.requests.isSent = true;
      let waiting = calls;
      let { token } = first.item;
      for (;;) {
        const taken = await next.take({
          ...first.item,
          max: waiting.length,
          token,
          requests,
          mayShare: false,
        });
        const { tasks } = taken;
        // Callers that have aborted meanwhile get no task.
        waiting = waiting.filter(({ done }) => !done);
        for (const [i, task] of tasks.entries()) waiting[i]?.answer({ ...taken, tasks: [task] });
        requests.handBack(
          tasks.slice(waiting.length).map((task) => ({
            receipt: writeReceipt({ ...task, token: taken.token, place: taken.place }),
          })),
        );
        waiting = waiting.slice(tasks.length);
        // Another take gets the next.
        if (waiting.length > 0 && taken.endedEarly) {
          token = newToken();
          continue;
        }
        for (const call of waiting) call.answer({ ...taken, tasks: [] });
        return;
      }
    },
  };
}
