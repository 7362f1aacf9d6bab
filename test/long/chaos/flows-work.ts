/** What a task of a flow does before its errand. */
import type { FlowItem } from "../../../src/features/flows/index.ts";
import { flowsOf } from "./flows-calls.ts";
import type { RunProcess } from "./run-process.ts";
import type { Holding } from "./work.ts";

/** What the payload of a task of a flow says of it. */
export interface InFlow {
  readonly queue: string;
  /** The refs of what it needs the completion of. */
  readonly needs?: readonly string[];
  /** What it adds in front of a node. */
  readonly grow?: { readonly ref: string; readonly items: readonly FlowItem<string>[] };
}

/** One of so many tasks reads what it waited for. */
const READS = 3;

/** Reads what the task waited for, and adds what it has to add. An error that it throws fails the attempt. */
export async function workInFlow(
  { receipt, payload }: Pick<Holding, "receipt" | "payload">,
  { queue, needs = [], grow }: InFlow,
  runProcess: RunProcess,
): Promise<void> {
  const flows = flowsOf(runProcess);
  const { ledger, roll } = runProcess;
  if (needs.length > 0 && roll(READS) === 0) {
    const found = await flows.before(queue, receipt);
    const missing = needs.filter((ref) => found[ref]?.state !== "completed");
    if (missing.length > 0) {
      const error = `${payload.mark} needs ${missing.join()}, and before() has ${JSON.stringify(found)}`;
      ledger.write({ what: "broken", error });
    }
  }
  if (!grow) return;
  ledger.write({ what: "grow", mark: payload.mark, ...grow });
  const grown = await flows.addBefore(queue, receipt, grow.ref, grow.items);
  if (grown.ok) ledger.write({ what: "grown", mark: payload.mark });
}
