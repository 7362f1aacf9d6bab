/** What processes write down of flows, and what it says of each flow. */
import type { BatchCallbacks, BatchTask, FlowItem } from "../../../src/features/flows/index.ts";
import type { FlowPlan } from "../../../src/features/flows/graph/flow-plan.ts";
import { planBatch } from "../../../src/features/flows/graph/plan-batch.ts";
import { planFlow } from "../../../src/features/flows/graph/plan-flow.ts";
import type { Errand } from "./work.ts";

/** A flow, with names in place of queues. */
export type DrawnFlow =
  | { readonly items: readonly FlowItem<string>[] }
  | { readonly tasks: readonly BatchTask<string>[]; readonly callbacks: BatchCallbacks<string> };

export type FlowEntry = Readonly<
  | { what: "flow"; flow: string; drawn: DrawnFlow; onFailure?: "cancel" | undefined }
  | { what: "flow added"; flow: string }
  | { what: "flow cancel"; flow: string }
  | { what: "flow redrive"; flow: string }
  /** The working task with that mark adds tasks in front of a node. */
  | { what: "grow"; mark: string; ref: string; items: readonly FlowItem<string>[] }
  | { what: "grown"; mark: string }
>;

export interface KnownFlow {
  readonly plan: FlowPlan<string>;
  readonly onFailure: "cancel" | undefined;
  isAdded: boolean;
  isCancelled: boolean;
  isRedriven: boolean;
}

export interface Growth {
  /** Of the node in front of which tasks were to be added. */
  readonly ref: string;
  readonly plan: FlowPlan<string>;
  isAdded: boolean;
}

export const planOf = (drawn: DrawnFlow): FlowPlan<string> =>
  "items" in drawn ? planFlow(drawn.items) : planBatch(drawn.tasks, drawn.callbacks);

/** The mark of a task. */
export const markOf = ({ nodes }: FlowPlan<string>, node: number) =>
  (nodes[node]?.task?.payload as Errand | undefined)?.mark;

/** What ledgers say of flows. */
export class FlowEvidence {
  /** By id. */
  readonly flows = new Map<string, KnownFlow>();
  /** By the mark of the task that added others. */
  readonly growths = new Map<string, Growth>();

  /** @returns the marks of tasks that were asked for */
  read(entry: FlowEntry): readonly string[] {
    switch (entry.what) {
      case "flow": {
        if (this.flows.has(entry.flow)) return [];
        const plan = planOf(entry.drawn);
        const ofProcesses = { isAdded: false, isCancelled: false, isRedriven: false };
        this.flows.set(entry.flow, { plan, onFailure: entry.onFailure, ...ofProcesses });
        return marksOf(plan);
      }
      case "grow": {
        if (this.growths.has(entry.mark)) return [];
        const plan = planFlow(entry.items);
        this.growths.set(entry.mark, { ref: entry.ref, plan, isAdded: false });
        return marksOf(plan);
      }
      case "grown": {
        const growth = this.growths.get(entry.mark);
        if (growth) growth.isAdded = true;
        return [];
      }
      default: {
        const flow = this.flows.get(entry.flow);
        if (!flow) return [];
        flow.isAdded ||= entry.what === "flow added";
        flow.isCancelled ||= entry.what === "flow cancel";
        flow.isRedriven ||= entry.what === "flow redrive";
        return [];
      }
    }
  }
}

const marksOf = (plan: FlowPlan<string>) =>
  [...plan.nodes.keys()].flatMap((node) => markOf(plan, node) ?? []);
