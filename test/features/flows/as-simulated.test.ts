import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type LeasedTask, Operator, Queue } from "../../../src/index.ts";
import { addPlan } from "../../../src/features/flows/add-flow.ts";
import type { FlowItem, FlowTask } from "../../../src/features/flows/graph/flow-items.ts";
import { planBatch } from "../../../src/features/flows/graph/plan-batch.ts";
import { planFlow } from "../../../src/features/flows/graph/plan-flow.ts";
import { simulate } from "../../../src/features/flows/graph/simulate.ts";
import { flowsPart } from "../../../src/features/flows/sweep-part.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { emptyOutbox } from "../../../src/kernel/linked/outbox.ts";
import { nodeId } from "../../../src/kernel/linked/flow-names.ts";
import { Flows } from "../../../src/open/flows.ts";
import { sweepWith } from "../../../src/open/sweep-with.ts";
import { useRig } from "../../support/rig.ts";
import { flowQueueOf } from "./flow-queues.ts";
import { randomFlows } from "./graph/random-flows.ts";

const rig = useRig({ checkInvariants: false });
const QUEUES = ["one", "two", "three"];

/** How often each step is drawn. */
const STEPS = {
  begin: 4,
  complete: 4,
  reject: 2,
  expire: 2,
  cancel: 2,
  redrive: 2,
  "cancel all": 1,
  "redrive all": 1,
};

type Step = readonly [keyof typeof STEPS, number];

const kinds = Object.entries(STEPS).map(([what, weight]) => ({
  weight,
  arbitrary: fc.constant(what as keyof typeof STEPS),
}));
const steps: fc.Arbitrary<Step[]> = fc.array(fc.tuple(fc.oneof(...kinds), fc.nat(1_000)), { maxLength: 40 });

interface Drawn {
  readonly items: FlowItem<string>[];
  readonly isBatch: boolean;
  readonly onFailure: "cancel" | undefined;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  items: randomFlows,
  isBatch: fc.boolean(),
  onFailure: fc.constantFrom(undefined, "cancel"),
});

const inQueues = (list: readonly FlowItem<string>[]): FlowItem<string>[] =>
  list.map((item, i): FlowItem<string> => {
    const queue = QUEUES[(i * 7 + list.length) % 3] as string;
    return "flow" in item
      ? { ...item, flow: inQueues(item.flow) }
      : { ...item, queue, payload: item.ref, maxAttempts: 2 };
  });

function planOf({ items, isBatch }: Drawn) {
  const all = inQueues(items);
  if (!isBatch || !planFlow(all).nodes.some(({ kind }) => kind === "task")) return planFlow(all);
  const callback = (at: number) => ({ queue: QUEUES[at] as string, payload: "callback", maxAttempts: 2 });
  const callbacks = { completed: callback(0), failed: callback(1), ended: callback(2) };
  return planBatch(all as readonly FlowTask<string>[], callbacks);
}

let flows = 0;

/** Does steps to a flow and to its simulation. Returns what each of its tasks is, and what it must be. */
async function both(one: Drawn) {
  // Without the memory of earlier runs.
  const transport = linked({ send: (commands, options) => rig.transport.send(commands, options) });
  const now = () => rig.now;
  const queues = new Map(QUEUES.map((name) => [name, new Queue<string>(name, { transport, now })]));
  const queueNamed = (name: string) => queues.get(name) as Queue<string>;
  const plan = planOf(one);
  const tasks = [...plan.nodes.keys()].filter((node) => plan.nodes[node]?.kind === "task");
  if (tasks.length === 0) return undefined;
  const queueAt = (node: number) => plan.nodes[node]?.task?.queue as string;
  const { onFailure } = one;
  const simulation = simulate(plan, { onFailure });
  const added = await addPlan(plan, (name) => flowQueueOf(queueNamed(name)), {
    id: `f${flows++}`,
    onFailure,
  });
  const whole = new Flows({ transport, now });
  const working = new Map<number, LeasedTask<string>>();
  const attempts = new Map<number, number>();
  let leases = 0;
  let hasEnded = false;

  async function begin(choice: number): Promise<void> {
    // Each lease ends later than the one before.
    const lease = `${++leases}s` as const;
    for (const task of await queueNamed(QUEUES[choice % 3] as string).dequeue({ lease })) {
      const node = Number(task.id.slice(0, task.id.indexOf("{")));
      expect(simulation.stateOf(node)).toBe("ready");
      simulation.begin(node);
      attempts.set(node, (attempts.get(node) ?? 0) + 1);
      working.set(node, task);
    }
  }

  async function end(choice: number, as: "complete" | "reject"): Promise<void> {
    const node = [...working.keys()][choice % working.size];
    if (node === undefined) return;
    simulation.end(node, as === "complete" ? "completed" : "rejected");
    await working.get(node)?.[as]();
    working.delete(node);
  }

  /** The oldest lease expires. */
  async function expire(): Promise<void> {
    const [first] = working;
    if (!first) return;
    const [node, task] = first;
    rig.now = task.deadlineAt + 1;
    if ((attempts.get(node) ?? 0) < 2) simulation.putBack(node);
    else simulation.end(node, "rejected");
    await sweepWith([flowsPart], transport, { now });
    working.delete(node);
  }

  function redrive(node: number): void {
    if (simulation.reasonOf(node) === "rejected") attempts.delete(node);
    simulation.redrive(node);
  }

  async function step([what, choice]: Step): Promise<void> {
    const node = tasks[choice % tasks.length] as number;
    if (what === "begin") await begin(choice);
    else if (what === "complete" || what === "reject") await end(choice, what);
    else if (what === "expire") await expire();
    else if (what === "cancel") {
      simulation.cancel(node);
      await queueNamed(queueAt(node)).cancel(nodeId(added.id, node));
    } else if (what === "redrive") {
      redrive(node);
      await new Operator(queueAt(node), { transport, now }).redrive({ ids: [nodeId(added.id, node)] });
    } else if (what === "cancel all") {
      simulation.cancelAll();
      await whole.cancel(added.id);
    } else {
      for (const each of tasks) redrive(each);
      await whole.redrive(added.id);
    }
    for (const name of QUEUES) await emptyOutbox({ transport, now }, name);
    hasEnded ||= simulation.hasEnded;
  }

  async function states() {
    const found: Record<number, unknown> = {};
    const wanted: Record<number, unknown> = {};
    for (const node of tasks) {
      const task = await queueNamed(queueAt(node)).get(nodeId(added.id, node));
      // What was cancelled is forgotten with the end of its flow.
      if (!task && hasEnded && simulation.reasonOf(node) === "cancelled") continue;
      const reason = task?.reason === "lease_expired" ? "rejected" : task?.reason;
      found[node] = [task?.state === "pending" ? "ready" : task?.state, reason];
      wanted[node] = [simulation.stateOf(node), simulation.reasonOf(node)];
    }
    return { found, wanted };
  }

  return { step, states };
}

test("a flow over several queues goes as it is simulated", async () => {
  await fc.assert(
    fc.asyncProperty(drawn, steps, async (one, script) => {
      // What a run that failed has left.
      await rig.command("FLUSHALL");
      const flow = await both(one);
      for (const step of flow ? script : []) {
        await flow?.step(step);
        const { found, wanted } = (await flow?.states()) ?? {};
        expect(found).toEqual(wanted);
      }
    }),
    { numRuns: Number(process.env["RUNS"] ?? 20) },
  );
});
