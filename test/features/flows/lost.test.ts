import { describe, expect, test } from "vitest";
import { addBefore } from "../../../src/features/flows/add-before.ts";
import { addFlow, type FlowOptions } from "../../../src/features/flows/add-flow.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { flowsPart } from "../../../src/features/flows/sweep-part.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { Flows } from "../../../src/http/flows/index.ts";
import { SluiceError } from "../../../src/errors.ts";
import { deepSweep, Queue } from "../../../src/index.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { sweepWith } from "../../../src/open/sweep-with.ts";
import type { KeySpace } from "../../support/key-space.ts";
import { useRig } from "../../support/rig.ts";
import { flowQueueOf } from "./flow-queues.ts";

// Whatever a flow loses in Redis, a deep sweep lets all of its tasks end, and nothing of it stays for ever.

const rig = useRig({ checkInvariants: false });
const now = () => rig.now;
const QUEUES = ["one", "two"] as const;
/** A new one for each flow: it remembers which queues are in the registry. */
let transport: Transport;

async function begin(scene: () => Promise<unknown>): Promise<void> {
  await rig.command("FLUSHALL");
  transport = { send: (commands, options) => rig.transport.send(commands, options) };
  await scene();
}

/** A process that dies after so many requests. */
function mortal(most: number): Transport {
  let requests = 0;
  return {
    send: async (commands, options) => {
      if (++requests > most) throw new SluiceError("redis_unreachable", "the process is dead");
      return rig.transport.send(commands, options);
    },
  };
}

const queue = (name: string, through = transport) =>
  new Queue<string>(name, { transport: linked(through), now });

const task = (ref: string, at: string, after: FlowItem<string>["after"] = []): FlowItem<string> => ({
  ref,
  queue: at,
  payload: ref,
  after,
});

const ITEMS: readonly FlowItem<string>[] = [
  task("a", "one"),
  { ref: "in", after: "a", flow: [task("b", "two"), task("c", "one")] },
  task("d", "two", { ref: "in", on: "ended" }),
];

const add = (through = transport, options: FlowOptions = {}) =>
  addFlow(ITEMS, (name) => flowQueueOf(queue(name, through)), { id: "f", ...options });

/** One thing that Redis has of a flow. */
interface Thing {
  readonly key: string;
  readonly name: string;
  readonly lose: readonly [string, ...string[]];
}

/** All fields and members of a flow; not what queues have of their own. */
function thingsOf(space: KeySpace): Thing[] {
  return Object.entries(space).flatMap(([key, value]) => {
    if ("hash" in value) return Object.keys(value.hash).map((name) => thing(key, name, "HDEL", key, name));
    if ("list" in value) return value.list.map((name) => thing(key, name, "LREM", key, "1", name));
    if ("zset" in value) return value.zset.map(([name]) => thing(key, name, "ZREM", key, name));
    return [];
  });
}

const thing = (key: string, name: string, ...lose: [string, ...string[]]): Thing => ({ key, name, lose });

const isOfFlow = ({ name }: Thing) => /f@one|^~nodes$|^~\^/.test(name);

const sweep = () => sweepWith([flowsPart], linked(transport), { now });
const runDeepSweep = () => deepSweep(transport, { now });

/** Works until nothing is left to do. */
async function workOn(): Promise<void> {
  for (let isDone = false; !isDone;) {
    isDone = true;
    for (const name of QUEUES) {
      const tasks = await queue(name).dequeue({ max: 10 });
      await Promise.all(tasks.map((one) => one.complete()));
      if (tasks.length > 0) isDone = false;
    }
    rig.now += 60_000;
    await sweep();
  }
}

/** What is wrong after a deep sweep, consumers and the time that records are kept; empty if nothing is. */
async function wrongAfter(): Promise<string[]> {
  const wrong: string[] = [];
  const first = await runDeepSweep();
  const again = await runDeepSweep();
  if (first.failed.length > 0) wrong.push(`failed: ${JSON.stringify(first.failed)}`);
  // A queue that has not got its tasks yet is not known to the first one.
  if (again.faults.length > 0 && first.queues === QUEUES.length)
    wrong.push(`found again: ${JSON.stringify(again.faults)}`);
  await workOn();
  for (const name of QUEUES) {
    const { pending, delayed, blocked, working } = await queue(name).counts();
    if (pending + delayed + blocked + working > 0)
      wrong.push(`${name} has ${JSON.stringify({ pending, delayed, blocked, working })}`);
  }
  const report = await new Flows({ transport: linked(transport), now }).get("f@one");
  const unended = report?.nodes.filter(({ state }) => state && !/completed|rejected/.test(state)) ?? [];
  if (report?.state === "running" || unended.length > 0)
    wrong.push(`reported: ${report?.state} ${JSON.stringify(unended.map(({ ref, state }) => [ref, state]))}`);
  rig.now += 8 * 86_400_000;
  await sweep();
  await runDeepSweep();
  rig.now += 8 * 86_400_000;
  await sweep();
  const left = thingsOf(await rig.keySpace()).filter((one) => isOfFlow(one) && one.name !== "~nodes");
  if (left.length > 0)
    wrong.push(
      `left ${left.length}: ${left
        .slice(0, 4)
        .map(({ key, name }) => `${key} ${name}`)
        .join(", ")}`,
    );
  return wrong;
}

const SCENES: Readonly<Record<string, () => Promise<unknown>>> = {
  "was recorded, by a caller that died": () => add(mortal(1)).catch(() => undefined),
  "runs, and its last worker died": async () => {
    await add();
    const dying = queue("one", mortal(2));
    const [a] = await dying.dequeue();
    await a?.complete();
  },
  "is to be cancelled, by a worker that died": async () => {
    await add(undefined, { onFailure: "cancel" });
    const dying = queue("one", mortal(2));
    const [a] = await dying.dequeue();
    await a?.reject();
  },
  "has ended, and its last worker died": async () => {
    await add();
    for (const [i, name] of ["one", "one", "two", "two"].entries()) {
      const [next] = await queue(name, i === 3 ? mortal(3) : transport).dequeue();
      await next?.complete();
    }
  },
};

/** `b` and `c` are added in front of `z` by `a`, which has completed. */
async function grow(): Promise<void> {
  const at = (name: string) => flowQueueOf(queue(name));
  await addFlow([task("a", "one"), task("z", "two", ["a"])], at, { id: "f" });
  const [a] = await queue("one").dequeue();
  const added = [task("b", "two"), task("c", "one", ["b"])];
  await addBefore({ receipt: a?.receipt ?? "", store: at("one").store }, "z", added, at);
  await a?.complete();
}

describe("a flow that loses something in Redis ends", () => {
  test("while it has grown, at the second deep sweep", async () => {
    await begin(grow);
    const things = thingsOf(await rig.keySpace()).filter(({ name }) => /^\.?g\w{10}\{/.test(name));
    for (const { key, name, lose } of things) {
      await begin(grow);
      await rig.command(...lose);
      await runDeepSweep();
      await workOn();
      expect(await wrongAfter(), `${key} ${name}`).toEqual([]);
    }
    expect(things).toHaveLength(6);
  });

  test.for(Object.keys(SCENES))("while it %s", async (name) => {
    const scene = SCENES[name] as () => Promise<unknown>;
    await begin(scene);
    const things = thingsOf(await rig.keySpace()).filter(isOfFlow);
    const wrong: Record<string, string[]> = {};
    for (const { key, name: lost, lose } of things) {
      await begin(scene);
      await rig.command(...lose);
      const found = await wrongAfter();
      if (found.length > 0) wrong[`${key} ${lost}`] = found;
    }
    expect(things.length).toBeGreaterThan(15);
    expect(wrong).toEqual({});
  });
});
