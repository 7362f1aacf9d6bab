/** A producer of flows: adds flows and batches, and cancels, redrives and reads a few. */
import { setTimeout as sleep } from "node:timers/promises";
import { flowsOf } from "./flows-calls.ts";
import { drawFlow } from "./flows-drawn.ts";
import { planOf } from "./flows-evidence.ts";
import type { RunProcess } from "./run-process.ts";

/** How many times it adds a flow at most, if it gets no answer. */
const TRIES = 3;

/** Adds flows until the process has to end. */
export async function produceFlows(runProcess: RunProcess): Promise<void> {
  const { roll, ledger, name } = runProcess;
  const flows = flowsOf(runProcess);
  const recent: string[] = [];
  let count = 0;

  async function add(): Promise<void> {
    const id = `${name}-${++count}`;
    const drawn = drawFlow(id, roll);
    const home = planOf(drawn).nodes.find(({ task }) => task)?.task?.queue;
    const flow = `${id}@${home}`;
    const onFailure = roll(4) === 0 ? ("cancel" as const) : undefined;
    // Some give up at once, and some add what they have added again.
    const tries = roll(3) === 0 ? 1 : TRIES;
    const isRepeated = roll(8) === 0;
    for (let tried = 0; tried < tries && !runProcess.ending.aborted; tried++) {
      ledger.write({ what: "flow", flow, drawn, onFailure });
      try {
        await flows.add(drawn, { id, onFailure });
        ledger.write({ what: "flow added", flow });
        recent.push(flow);
        recent.splice(0, recent.length - 10);
        if (!isRepeated) return;
      } catch (error) {
        runProcess.met(error);
      }
    }
  }

  async function onOne(act: (flow: string) => Promise<unknown>): Promise<void> {
    const flow = recent[roll(recent.length)];
    if (flow !== undefined) await act(flow).catch((error: unknown) => runProcess.met(error));
  }

  const acts: (() => Promise<void>)[] = [
    ...Array<() => Promise<void>>(8).fill(add),
    () => onOne((flow) => flows.get(flow)),
    () =>
      onOne((flow) => {
        ledger.write({ what: "flow redrive", flow });
        return flows.redrive(flow);
      }),
    () =>
      onOne((flow) => {
        if (roll(2) === 0) return Promise.resolve();
        ledger.write({ what: "flow cancel", flow });
        return flows.cancel(flow);
      }),
  ];
  while (!runProcess.ending.aborted) {
    await acts[roll(acts.length)]?.();
    await sleep(200 + roll(600));
  }
}
