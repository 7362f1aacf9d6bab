import type { Batch, Settled, Settlement, TaskSource } from "../../../src/index.ts";
import type { RunProcess } from "./run-process.ts";

/** A source of tasks whose calls are written down, before and after. */
export function noted<T>(source: TaskSource<T>, runProcess: RunProcess): TaskSource<T> {
  const exchange = async <Answer extends { settled: Settled[]; tasks: Batch<T> | [] }>(
    settlements: readonly Settlement[],
    pull: { readonly wait?: unknown } | undefined,
    ask: () => Promise<Answer>,
  ): Promise<Answer> => {
    const { ledger } = runProcess;
    const call = ledger.nextCall();
    const settle = settlements.map((one) => [one.receipt, outcomeOf(one)] as const);
    const wait = pull?.wait !== undefined;
    ledger.write({ what: "ask", call, queue: source.name, settle, pull: pull !== undefined, wait });
    try {
      const answer = await ask();
      const receipts = answer.tasks.map(({ receipt }) => receipt);
      const settled = answer.settled.map((one) => (one.ok ? one.state : `!${one.code}`));
      ledger.write({ what: "answer", call, settled, receipts });
      return answer;
    } catch (error) {
      runProcess.met(error, call);
      throw error;
    }
  };
  return {
    name: source.name,
    async dequeue(options = {}) {
      const ask = async () => ({ settled: [], tasks: await source.dequeue(options) });
      return (await exchange([], options, ask)).tasks;
    },
    async settle(settlements, options) {
      const ask = async () => ({ settled: await source.settle(settlements, options), tasks: [] as [] });
      return (await exchange(settlements, undefined, ask)).settled;
    },
    settleAndDequeue: (settlements, options) =>
      exchange(settlements, options, () => source.settleAndDequeue(settlements, options)),
  };
}

/** As the scripts call it. */
function outcomeOf(settlement: Settlement): string {
  return settlement.outcome === "requeue" && settlement.unstarted ? "unstarted" : settlement.outcome;
}
