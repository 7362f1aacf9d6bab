import { expect, test } from "vitest";
import { type LeasedTask, Queue } from "../../../src/index.ts";
import { addBefore } from "../../../src/features/flows/add-before.ts";
import { addFlow } from "../../../src/features/flows/add-flow.ts";
import type { FlowQueue } from "../../../src/features/flows/flow-tasks.ts";
import type { FlowItem } from "../../../src/features/flows/graph/flow-items.ts";
import { flowsPart } from "../../../src/features/flows/sweep-part.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { Flows } from "../../../src/http/flows/index.ts";
import { SluiceError } from "../../../src/errors.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { sweepWith } from "../../../src/open/sweep-with.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });

const task = (ref: string, queue: string, after: readonly string[] = []): FlowItem<string> => ({
  ref,
  queue,
  payload: ref,
  after,
});
const ITEMS = [
  task("a", "one"),
  task("b", "two", ["a"]),
  task("c", "one", ["b"]),
  task("d", "three", ["a", "c"]),
  task("e", "three", ["d"]),
];

/** A process that dies at its request number `most`: before it is sent, or after it, so that the reply is lost. */
function mortal(most: number, loses: "request" | "reply") {
  const life = { requests: 0 };
  const transport: Transport = {
    send: async (commands, options) => {
      life.requests++;
      if (life.requests > most) throw new SluiceError("redis_unreachable", "the process is dead");
      if (life.requests === most && loses === "request") throw new SluiceError("redis_unreachable", "killed");
      const outcomes = await rig.transport.send(commands, options);
      if (life.requests === most) throw new SluiceError("redis_unreachable", "killed");
      return outcomes;
    },
  };
  return { transport, life };
}

const now = () => rig.now;

function queueOf(transport: Transport) {
  return (name: string): FlowQueue => {
    const queue = new Queue(name, { transport: linked(transport), now });
    const parts = queue as unknown as Pick<FlowQueue, "store" | "values">;
    return { store: parts.store, values: parts.values, defaults: {}, schema: undefined };
  };
}

/** Works on all queues by processes that live for so many requests each, with a sweep after each of them. */
async function work(requests: readonly number[], loses: "request" | "reply"): Promise<string[]> {
  const done: string[] = [];
  for (const most of requests) {
    const { transport } = mortal(most, loses);
    try {
      for (const name of ["one", "two", "three"]) {
        const queue = new Queue<string>(name, { transport: linked(transport), now });
        for (const one of await queue.dequeue({ max: 5, lease: "1m" })) {
          if ((await one.complete()).ok) done.push(one.payload);
        }
      }
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
    }
    rig.now += 60_001;
    await sweepWith([flowsPart], linked(rig.transport), { now });
  }
  return done;
}

test.for(["request", "reply"] as const)(
  "a flow is added as a whole or not at all, and goes on, whichever %s its producer dies at",
  async (loses) => {
    for (let most = 1; most < 6; most++) {
      await rig.command("FLUSHALL");
      const { transport } = mortal(most, loses);
      const isAdded = await addFlow(ITEMS, queueOf(transport), { id: "f" }).then(
        () => true,
        () => false,
      );
      await sweepWith([flowsPart], linked(rig.transport), { now });
      const exists = (await rig.command("HEXISTS", "sluice:{one}:tasks", "~F:f@one")) === 1;
      if (isAdded) expect(exists).toBe(true);
      const done = await work(Array<number>(8).fill(1_000), loses);
      expect(done).toEqual(exists ? ["a", "b", "c", "d", "e"] : []);
      const keys = await rig.keySpace();
      const registry = keys["sluice:queues"];
      const names = registry && "zset" in registry ? registry.zset.map(([name]) => name) : [];
      expect(names.filter((name) => name.startsWith("~^"))).toEqual([]);
    }
  },
);

test.for(["request", "reply"] as const)(
  "a large flow is added as a whole or not at all, whichever %s its producer dies at",
  async (loses) => {
    // Each task of the first queue is in another piece than the one of the second that waits for it.
    const items = Array.from({ length: 420 }, (_, i) =>
      task(`t${i}`, i % 2 === 0 ? "one" : "two", i >= 210 ? [`t${i - 209}`] : []),
    );
    for (let most = 1; most < 7; most++) {
      await rig.command("FLUSHALL");
      const { transport, life } = mortal(most, loses);
      const isAdded = await addFlow(items, queueOf(transport), { id: "f" }).then(
        () => true,
        () => false,
      );
      expect(life.requests).toBeLessThan(7);
      await sweepWith([flowsPart], linked(rig.transport), { now });
      const exists = (await rig.command("HEXISTS", "sluice:{one}:tasks", "~F:f@one")) === 1;
      if (isAdded) expect(exists).toBe(true);
      const counts = await Promise.all(
        ["one", "two"].map(async (name) => {
          const { pending, blocked } = await new Queue(name, {
            transport: linked(rig.transport),
            now,
          }).counts();
          return { pending, blocked };
        }),
      );
      const [all, none] = [
        { pending: 105, blocked: 105 },
        { pending: 0, blocked: 0 },
      ];
      expect(counts).toEqual(exists ? [all, all] : [none, none]);
      const ofOutbox = ["ZCOUNT", "sluice:{one}:expiry", "4503599627370495", "+inf"] as const;
      expect(await rig.command(...ofOutbox)).toBe(0);
      rig.now += 3_600_001;
      await sweepWith([flowsPart], linked(rig.transport), { now });
      expect(await rig.command("ZCARD", "sluice:{one}:expiry")).toBe(0);
    }
  },
);

test.for(["request", "reply"] as const)(
  "a task adds others in front of what waits for it as a whole or not at all, whichever %s it dies at",
  async (loses) => {
    for (let most = 1; most < 7; most++) {
      await rig.command("FLUSHALL");
      await addFlow([task("a", "one"), task("z", "two", ["a"])], queueOf(rig.transport), { id: "f" });
      const queue = new Queue<string>("one", { transport: linked(rig.transport), now });
      const a = (await queue.dequeue({ lease: "10m" }))[0] as LeasedTask<string>;
      const grow = (transport: Transport) => {
        const open = queueOf(transport);
        const items = [task("b", "three"), task("c", "one", ["b"])];
        return addBefore({ receipt: a.receipt, store: open("one").store }, "z", items, open);
      };
      const isAdded = await grow(mortal(most, loses).transport).then(
        () => true,
        () => false,
      );
      await sweepWith([flowsPart], linked(rig.transport), { now });
      // Half of them are run again.
      if (most % 2 === 0) await grow(rig.transport);
      expect(await a.complete()).toMatchObject({ ok: true });
      const done = await work(Array<number>(4).fill(1_000), loses);
      if (isAdded || most % 2 === 0) expect(done).toEqual(["b", "c", "z"]);
      else expect([["z"], ["b", "c", "z"]]).toContainEqual(done);
      const home = new Queue("one", { transport: linked(rig.transport), now });
      expect(await home.get("flow{f@one}")).toMatchObject({ state: "completed" });
    }
  },
);

test.for(["request", "reply"] as const)(
  "a flow goes on to its end, whichever %s its consumers die at",
  async (loses) => {
    for (let most = 1; most < 8; most++) {
      await rig.command("FLUSHALL");
      await addFlow(ITEMS, queueOf(rig.transport), { id: "f" });
      // Each second process lives, so that there is progress.
      await work(
        Array.from({ length: 16 }, (_, i) => (i % 2 === 0 ? most : 1_000)),
        loses,
      );
      const queue = new Queue("three", { transport: linked(rig.transport), now });
      expect(await queue.counts()).toMatchObject({ pending: 0, delayed: 0, working: 0, rejected: 0 });
      const home = new Queue("one", { transport: linked(rig.transport), now });
      expect(await home.get("flow{f@one}")).toMatchObject({ state: "completed" });
    }
  },
);

/** Begins a task of a queue, and rejects it. */
async function fail(name: string, transport: Transport): Promise<void> {
  const queue = new Queue<string>(name, { transport: linked(transport), now });
  for (const one of await queue.dequeue({ lease: "1m" })) await one.reject({ error: "no" });
}

const sweepLater = async () => {
  rig.now += 60_001;
  await sweepWith([flowsPart], linked(rig.transport), { now });
};

const ignored = (call: Promise<unknown>) => call.catch(() => undefined);

test.for(["request", "reply"] as const)(
  "a failure cancels the flow, and spares what cleans up, whichever %s the consumer of the task dies at",
  async (loses) => {
    const cleanUp = { ...task("e", "three"), after: [{ ref: "a", on: "ended" as const }] };
    const items = [task("a", "one"), task("b", "two"), task("c", "one", ["b"]), cleanUp];
    for (let most = 1; most < 7; most++) {
      await rig.command("FLUSHALL");
      const { tasks } = await addFlow(items, queueOf(rig.transport), { id: "f", onFailure: "cancel" });
      await ignored(fail("one", mortal(most, loses).transport));
      await sweepLater();
      await fail("one", rig.transport);
      await sweepLater();
      const of = (name: string) => new Queue(name, { transport: linked(rig.transport), now });
      expect(await of("two").get(tasks["b"] as string)).toMatchObject({ reason: "cancelled" });
      expect(await of("one").get(tasks["c"] as string)).toMatchObject({ reason: "cancelled" });
      expect(await work([1_000], loses)).toEqual(["e"]);
      expect(await of("one").get("flow{f@one}")).toMatchObject({ state: "rejected" });
    }
  },
);

test.for(["request", "reply"] as const)(
  "a redrive that is repeated lets a flow go on, whichever %s its first caller dies at",
  async (loses) => {
    for (let most = 1; most < 6; most++) {
      await rig.command("FLUSHALL");
      await addFlow(ITEMS, queueOf(rig.transport), { id: "f" });
      await fail("one", rig.transport);
      await ignored(new Flows({ transport: mortal(most, loses).transport, now }).redrive("f@one"));
      await new Flows({ transport: rig.transport, now }).redrive("f@one");
      await sweepLater();
      expect(await work(Array<number>(4).fill(1_000), loses)).toEqual(["a", "b", "c", "d", "e"]);
    }
  },
);
