import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Operator, Queue } from "../../../src/index.ts";
import { addPlan } from "../../../src/features/flows/add-flow.ts";
import type { FlowQueue } from "../../../src/features/flows/flow-tasks.ts";
import type { FlowItem, FlowTask } from "../../../src/features/flows/graph/flow-items.ts";
import { planBatch } from "../../../src/features/flows/graph/plan-batch.ts";
import { planFlow } from "../../../src/features/flows/graph/plan-flow.ts";
import { simulate } from "../../../src/features/flows/graph/simulate.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { emptyOutbox } from "../../../src/kernel/linked/outbox.ts";
import { nodeId } from "../../../src/kernel/linked/flow-names.ts";
import { useRig } from "../../support/rig.ts";
import { randomFlows } from "./graph/random-flows.ts";

const rig = useRig({ checkInvariants: false });
const QUEUES = ["one", "two", "three"];

type Step = readonly ["begin" | "complete" | "reject" | "cancel" | "redrive", number];

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.tuple(
    fc.constantFrom("begin", "begin", "complete", "complete", "reject", "cancel", "redrive"),
    fc.nat(1_000),
  ),
  { maxLength: 40 },
);

test("a flow over several queues goes as it is simulated", async () => {
  let flows = 0;
  await fc.assert(
    fc.asyncProperty(randomFlows, steps, fc.boolean(), async (items, script, ofBatch) => {
      // What a run that failed has left.
      await rig.command("FLUSHALL");
      const transport = linked(rig.transport);
      const now = () => rig.now;
      const queues = new Map(QUEUES.map((name) => [name, new Queue<string>(name, { transport, now })]));
      const operators = new Map(QUEUES.map((name) => [name, new Operator(name, { transport, now })]));
      const queueOf = (name: string): FlowQueue => {
        const parts = queues.get(name) as unknown as Pick<FlowQueue, "store" | "values">;
        return { store: parts.store, values: parts.values, defaults: {}, schema: undefined };
      };
      const inQueues = (list: readonly FlowItem<string>[]): FlowItem<string>[] =>
        list.map((item, i): FlowItem<string> =>
          "flow" in item
            ? { ...item, flow: inQueues(item.flow) }
            : { ...item, queue: QUEUES[(i * 7 + list.length) % 3] as string, payload: item.ref },
        );
      const all = inQueues(items);
      const callback = (at: number) => ({ queue: QUEUES[at] as string, payload: "callback" });
      const callbacks = { completed: callback(0), failed: callback(1), ended: callback(2) };
      const isBatch = ofBatch && planFlow(all).nodes.some(({ kind }) => kind === "task");
      const plan = isBatch ? planBatch(all as readonly FlowTask<string>[], callbacks) : planFlow(all);
      if (!plan.nodes.some(({ kind }) => kind === "task")) return;
      const simulation = simulate(plan);
      const { id: flow } = await addPlan(plan, queueOf, { id: `f${flows++}` });
      const working = new Map<number, { complete(): Promise<unknown>; reject(): Promise<unknown> }>();
      const queueAt = (node: number) => plan.nodes[node]?.task?.queue as string;
      const tasks = [...plan.nodes.keys()].filter((node) => plan.nodes[node]?.kind === "task");

      for (const [what, choice] of script) {
        if (what === "begin") {
          const name = QUEUES[choice % 3] as string;
          for (const task of (await queues.get(name)?.dequeue()) ?? []) {
            const node = Number(task.id.slice(0, task.id.indexOf("{")));
            expect(simulation.stateOf(node)).toBe("ready");
            simulation.begin(node);
            working.set(node, task);
          }
        } else if (what === "complete" || what === "reject") {
          const node = [...working.keys()][choice % working.size];
          if (node === undefined) continue;
          simulation.end(node, what === "complete" ? "completed" : "rejected");
          await (what === "complete" ? working.get(node)?.complete() : working.get(node)?.reject());
          working.delete(node);
        } else {
          const node = tasks[choice % tasks.length] as number;
          if (what === "cancel") {
            simulation.cancel(node);
            await queues.get(queueAt(node))?.cancel(nodeId(flow, node));
          } else {
            simulation.redrive(node);
            await operators.get(queueAt(node))?.redrive({ ids: [nodeId(flow, node)] });
          }
        }
        for (const name of QUEUES) await emptyOutbox({ transport, now }, name);
        const states: Record<number, unknown> = {};
        const wanted: Record<number, unknown> = {};
        for (const node of tasks) {
          const found = await queues.get(queueAt(node))?.get(nodeId(flow, node));
          states[node] = [found?.state === "pending" ? "ready" : found?.state, found?.reason];
          wanted[node] = [simulation.stateOf(node), simulation.reasonOf(node)];
        }
        expect(states).toEqual(wanted);
      }
    }),
    { numRuns: Number(process.env["RUNS"] ?? 60) },
  );
});
