import { describe, expect, test } from "vitest";
import { drain, type Transport } from "../../src/index.ts";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";

// Real time: a drain waits on the clock of this process.
const rig = useRig();

/** A transport that holds back the first reply with a lease. As over a network, an abort loses the reply. */
function holding() {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let isHeld = false;
  const transport: Transport = {
    async send(commands, { signal } = {}) {
      const outcomes = await rig.transport.send(commands);
      const leases = commands.some((one) => "script" in one && one.script.name === "dequeue");
      if (!leases || isHeld) return outcomes;
      isHeld = true;
      await new Promise<void>((resolve, reject) => {
        void released.then(resolve);
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
      });
      return outcomes;
    },
  };
  return { transport, release };
}

describe.each([1, 4])("of %i partitions", (partitions) => {
  test("the tasks of a dequeue that the end of a drain aborts are handed back once, and not counted", async () => {
    const queue = (transport = rig.transport) => rig.queue({ now: undefined, transport, partitions });
    await queue().enqueueMany(numbered(8));
    const { transport, release } = holding();
    const begun: string[] = [];
    const draining = drain(queue(transport), ({ id }) => void begun.push(id), { budget: "1s", batch: 5 });
    await expect(draining).rejects.toMatchObject({ code: "redis_unreachable" });
    expect((await queue().counts()).working).toBeGreaterThan(0);
    release();
    await expect.poll(async () => (await queue().counts()).pending).toBe(8);
    const infos = await Promise.all(numbered(8).map(({ id }) => queue().get(id)));
    expect(infos.map((info) => [info?.state, info?.charged])).toEqual(infos.map(() => ["pending", 0]));
    expect(infos.every((info) => info!.attempt <= 1)).toBe(true);
    expect(begun).toEqual([]);
  });
});
