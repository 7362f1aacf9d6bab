import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Queue } from "../../src/index.ts";
import { drain } from "../../src/drain/drain.ts";
import type { DrainOptions, Handler } from "../../src/drain/types.ts";
import { numbered } from "../support/new-tasks.ts";
import { QUEUE, useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { hanging, pause } from "./draining.ts";

const rig = useRig();
useSimulatedTime(rig);

/**
 * Runs drains in processes that die one after the other, until none dies. A process that dies sends no more
 * requests, and its leases expire before the next process begins.
 * @param drains the drains of one process: the handler of each calls `die` to kill the process
 * @returns how many processes died
 */
async function untilNoneDies(
  drains: (
    process: { transport: typeof rig.transport; die: () => Promise<never> } & DrainOptions,
  ) => Promise<unknown>[],
): Promise<number> {
  for (let deaths = 0; ; deaths++) {
    const death = new AbortController();
    const transport: typeof rig.transport = {
      async send(commands, options) {
        if (death.signal.aborted) throw new Error("this process is dead");
        return rig.transport.send(commands, options);
      },
    };
    const die = () => {
      death.abort();
      return hanging();
    };
    await Promise.allSettled(drains({ transport, die, signal: death.signal, budget: "2s" }));
    if (!death.signal.aborted) return deaths;
    rig.now += 300_001;
  }
}

/** Which handlers run in a process, and which ran when it died. */
class Running {
  readonly ids = new Set<string>();
  readonly atDeath: string[][] = [];

  /** A handler: the task `killer` dies as soon as others had time to begin, other tasks take a while. */
  handler(die: () => Promise<never>, killer: string): Handler<number> {
    return async ({ id }) => {
      this.ids.add(id);
      if (id !== killer) {
        await pause(20);
        this.ids.delete(id);
        return id;
      }
      await pause(5);
      this.atDeath.push([...this.ids].toSorted());
      this.ids.clear();
      return die();
    };
  }
}

/** Expects that of the tasks `t0`, `t1` … only the killer is a dead letter. All others are done. */
async function expectDone(queue: Queue<number>, count: number, killer?: string) {
  const tasks = await Promise.all(numbered(count).map(({ id }) => queue.get(id)));
  expect(tasks.map((task) => [task?.id, task?.state, task?.reason])).toEqual(
    numbered(count).map(({ id }) =>
      id === killer ? [id, "rejected", "lease_expired"] : [id, "completed", undefined],
    ),
  );
  expect(tasks.filter((task) => task?.id !== killer && (task?.charged ?? 0) > 2)).toEqual([]);
}

describe("a task that kills its process", () => {
  test.each([
    ["by default", {}],
    ["in batches of a hundred", { batch: 100 }],
    ["with many handlers", { concurrency: 50 }],
  ])("is the only dead letter, %s", async (_, options) => {
    await rig.queue().enqueueMany(numbered(40));
    const running = new Running();
    const deaths = await untilNoneDies(({ transport, die, ...process }) => [
      drain(rig.queue<number>({ transport }), running.handler(die, "t3"), { ...process, ...options }),
    ]);
    expect(deaths).toBe(10);
    expect(running.atDeath.slice(1)).toEqual(Array.from({ length: 9 }, () => ["t3"]));
    await expectDone(rig.queue(), 40, "t3");
  });

  test("is the only dead letter of several queues of its process", async () => {
    const names = [QUEUE, "invoices"];
    const of = (name: string, transport = rig.transport) =>
      new Queue<number>(name, { transport, now: () => rig.now });
    await Promise.all(names.map((name) => of(name).enqueueMany(numbered(12))));
    const running = new Running();
    await untilNoneDies(({ transport, die, ...process }) =>
      names.map((name) => {
        const handle = running.handler(die, name === QUEUE ? "t3" : "");
        return drain(of(name, transport), handle, process);
      }),
    );
    await expectDone(of(QUEUE), 12, "t3");
    await expectDone(of("invoices"), 12);
  });

  test("begins when the other tasks of its drain have ended", async () => {
    await rig.queue().enqueue(0, { id: "suspect" });
    await rig.queue().dequeue({ lease: "1m" });
    await rig.queue().enqueue(1, { id: "other" });
    let onDequeued = () => {};
    const dequeued = new Promise<void>((resolve) => (onDequeued = resolve));
    const send: typeof rig.transport.send = async (commands, options) => {
      const outcomes = await rig.transport.send(commands, options);
      if (JSON.stringify(outcomes).includes('"suspect"')) onDequeued();
      return outcomes;
    };
    const running = new Set<string>();
    const beside: string[][] = [];
    let look = () => {};
    const handler = async ({ id }: { readonly id: string }) => {
      running.add(id);
      beside.push([...running]);
      if (id === "other") {
        rig.now += 60_001;
        look();
        await dequeued;
      }
      // The drain has time to begin the task that it has got.
      for (let turns = 0; turns < 20; turns++) await setImmediate();
      running.delete(id);
    };
    const options = { listen: (given: () => void) => (look = given), budget: "10m" } as const;
    const report = await drain(rig.queue<number>({ transport: { send } }), handler, options);
    expect(beside).toEqual([["other"], ["suspect"]]);
    expect(report).toMatchObject({ completed: 2, handedBack: 0, ended: "empty" });
  });

  test("runs alone: meanwhile the drain says that it can begin no other", async () => {
    await rig.queue().enqueue(0, { id: "suspect" });
    await rig.queue().dequeue({ lease: "1m" });
    rig.now += 60_001;
    await rig.queue().enqueue(1, { id: "other" });
    let look = () => true;
    const looks: Record<string, boolean> = {};
    const handler = ({ id }: { readonly id: string }) => void (looks[id] = look());
    const options = { concurrency: 2, listen: (given: typeof look) => void (look = given) };
    await drain(rig.queue<number>(), handler, options);
    expect(looks).toEqual({ suspect: false, other: true });
  });
});
