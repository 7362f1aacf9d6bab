import { expect } from "vitest";
import { deepSweep, type DeepSweepOptions, type NewTask, type Transport } from "../../src/index.ts";
import type { Rig } from "./rig.ts";

/** A transport whose quick check always fails, so that deep sweeps check each queue page by page. */
export function pageByPage(transport: Transport): Transport {
  return {
    async send(commands, options) {
      const checks = commands.filter((command) => "script" in command && command.script.name === "check");
      if (checks.length === 0) return transport.send(commands, options);
      expect(checks.length).toBe(commands.length);
      return commands.map(() => ({ reply: ["scan", 0, 1] }));
    },
  };
}

/** The functions that tests of the deep sweep share. */
export function deepTools(rig: Rig) {
  const runDeepSweep = (options: DeepSweepOptions = {}) =>
    deepSweep(rig.transport, { now: () => rig.now, ...options });

  /** Runs a deep sweep and returns the ids by fault. Expects that a second one finds and changes nothing. */
  async function found(): Promise<Record<string, string[]>> {
    const { faults, failed, cursor } = await runDeepSweep();
    expect([failed, cursor]).toEqual([[], null]);
    const after = await rig.keySpace();
    expect((await runDeepSweep()).faults).toEqual([]);
    expect(await rig.keySpace()).toEqual(after);
    expect((await deepSweep(pageByPage(rig.transport), { now: () => rig.now })).faults).toEqual([]);
    expect(await rig.keySpace()).toEqual(after);
    return Object.fromEntries(faults.map(({ fault, ids }) => [fault, ids.toSorted()]));
  }

  const enqueue = (...tasks: (string | (Partial<NewTask<unknown>> & { id: string }))[]) =>
    rig
      .queue()
      .enqueueMany(
        tasks.map((task) => ({ payload: 1, ...(typeof task === "string" ? { id: task } : task) })),
      );

  /** Dequeues and completes every task, and returns the ids in order of delivery. */
  async function drained(): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const batch = await rig.queue().dequeue({ max: 10 });
      if (batch.length === 0) return ids;
      for (const task of batch) {
        ids.push(task.id);
        expect(await task.complete()).toMatchObject({ ok: true });
      }
    }
  }

  return { runDeepSweep, found, enqueue, drained };
}
