import { expect, test } from "vitest";
import { addFlow } from "../../../src/features/flows/add-flow.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { flowsPart } from "../../../src/features/flows/sweep-part.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { SluiceError } from "../../../src/errors.ts";
import { Queue } from "../../../src/index.ts";
import type { Command, Transport } from "../../../src/kernel/transport.ts";
import { sweepWith } from "../../../src/open/sweep-with.ts";
import { useRig } from "../../support/rig.ts";
import { flowQueueOf } from "./flow-queues.ts";

// Queues in several databases, of which one cannot be reached: only what needs it waits.

const rig = useRig({ checkInvariants: false });

const keyOf = (command: Command) => ("script" in command ? command.keys[0] : command[1]) ?? "";

/** As `databases`, with each queue in a database of its own. Those of `down` cannot be reached. */
function separated(down: ReadonlySet<string>): Transport {
  const isDown = (command: Command) => [...down].some((queue) => keyOf(command).includes(`{${queue}}`));
  return {
    send: async (commands, options) => {
      const error = new SluiceError("redis_unreachable", "the database cannot be reached");
      const reached = commands.filter((command) => !isDown(command));
      if (reached.length === 0) throw error;
      const outcomes = await rig.transport.send(reached, options);
      return commands.map((command) => (isDown(command) ? { error } : (outcomes.shift() ?? { error })));
    },
  };
}

test("tasks go on whose database can be reached, and the others when theirs can be reached again", async () => {
  const down = new Set<string>();
  const transport = linked(separated(down));
  const now = () => rig.now;
  const queues = new Map(["one", "lost", "two"].map((name) => [name, new Queue(name, { transport, now })]));
  const queueOf = (name: string) => flowQueueOf(queues.get(name) as Queue);
  const statesOf = async (name: string) => {
    const { blocked, pending } = (await queues.get(name)?.counts()) ?? {};
    return { blocked, pending };
  };
  // More than one reading of an outbox has: 120 tasks in front of one that cannot be reached, then one of another.
  const first = Array.from({ length: 120 }, (_, i): FlowItem<string> => ({
    ref: `t${i}`,
    queue: "one",
    payload: i,
  }));
  const behind = first.map(({ ref }, i): FlowItem<string> => ({
    ref: `b${i}`,
    queue: i < 110 ? "lost" : "two",
    payload: i,
    after: ref,
  }));
  await addFlow([...first, ...behind], queueOf, {});

  down.add("lost");
  const batch = (await queues.get("one")?.dequeue({ max: 200 })) ?? [];
  await queues.get("one")?.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
  const report = await sweepWith([flowsPart], transport, { now });
  expect(report.failed.map(({ queue }) => queue).toSorted()).toEqual(["lost", "one"]);
  expect(await statesOf("two")).toEqual({ blocked: 0, pending: 10 });

  down.clear();
  expect(await statesOf("lost")).toEqual({ blocked: 110, pending: 0 });
  await sweepWith([flowsPart], transport, { now });
  expect(await statesOf("lost")).toEqual({ blocked: 0, pending: 110 });
});

test("queues of different databases, or with different prefixes, are refused before anything is sent", async () => {
  const at = (database: string, prefix?: string) =>
    flowQueueOf(new Queue("one", { transport: { ...rig.transport, database }, prefix }));
  const given = { first: at("a"), second: at("b"), third: at("a", "other") };
  const queueOf = (name: string) => given[name as keyof typeof given];
  for (const other of ["second", "third"]) {
    const items = [
      { ref: "x", queue: "first", payload: 1 },
      { ref: "y", queue: other, payload: 1, after: "x" },
    ];
    await expect(addFlow(items, queueOf, {})).rejects.toMatchObject({
      code: "invalid_argument",
      path: "tasks[1].queue",
    });
  }
  expect(await rig.command("DBSIZE")).toBe(0);
});
