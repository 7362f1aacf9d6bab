/** Enqueues tasks under keys: debounced ones, and singletons. The end of a task's mark names its key. */
import { withDebounce } from "../../../src/features/debounce/index.ts";
import type { Queue } from "../../../src/index.ts";
import type { RunProcess } from "./run-process.ts";
import { drawErrand, type Errand, QUEUES } from "./work.ts";

/** How many keys there are of each kind. */
const KEYS = 5;

/** @returns what enqueues one task. @param nextMark a mark unlike all others */
export function keyedProducer(runProcess: RunProcess, nextMark: () => string): () => Promise<void> {
  const { ledger, roll } = runProcess;
  // A queue of the client has the same calls.
  const queue = withDebounce(runProcess.queue(QUEUES.keyed) as Queue<Errand>);

  return async () => {
    const [does, options] = drawErrand(roll);
    const isSingle = roll(2) === 0;
    const key = `${isSingle ? "s" : "d"}${roll(KEYS)}`;
    const mark = `${nextMark()}@${key}`;
    const keep = roll(3) === 0 ? ("first" as const) : ("last" as const);
    const kind = isSingle
      ? { singleton: { key, while: "unfinished", then: "drop" } as const }
      : { debounce: { key, wait: 100 + roll(400), maxWait: "2s", keep } as const };
    const call = ledger.nextCall();
    ledger.write({ what: "enqueue", call, queue: QUEUES.keyed, marks: [mark] });
    try {
      const { id } = await queue.enqueue({ mark, does }, { ...options, ...kind });
      // Whose payload the task has in the end is for Redis to say.
      ledger.write({ what: "enqueued", call, ids: [id], created: [false] });
    } catch (error) {
      runProcess.met(error, call);
    }
  };
}
