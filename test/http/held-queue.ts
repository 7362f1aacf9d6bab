import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { Queue } from "../../src/index.ts";
import { linkedScripts } from "../../src/lua/linked.gen.ts";
import { scripts } from "../support/bindings.ts";
import { type HeldReplies, startHeldReplies } from "../support/held-replies.ts";

/** Some in each of four partitions. */
const IDS = Array.from({ length: 8 }, (_, i) => `t${i}`);

/** A queue for each test, with callers that leave after their request has leased tasks. */
export function useHeldQueue() {
  let held: HeldReplies;
  let name = "";
  let count = 0;
  beforeAll(async () => {
    held = await startHeldReplies();
    // If Redis had to ask for a script, its answer to that would be held back.
    const linked = await Promise.all(Object.values(linkedScripts).map((load) => load()));
    const loads = [...scripts, ...linked].map(({ source }) => ["SCRIPT", "LOAD", source] as const);
    await held.direct(1).send(loads);
  });
  beforeEach(() => void (name = `q${count++}`));
  afterEach(() => held.release());
  afterAll(() => held.stop());

  /** The queue on Redis, past the held replies. */
  const direct = (partitions: number) => new Queue(name, { transport: held.direct(1), partitions });
  const counts = (partitions: number) => direct(partitions).counts();
  return {
    name: () => name,
    direct,
    counts,
    transport: () => held.transport("resp", 1),
    release: () => held.release(),
    /**
     * Adds tasks.
     * @param learn a call by which the server learns which partitions the queue has
     */
    async fill(partitions: number, learn: () => Promise<unknown>) {
      await counts(partitions);
      await learn();
      await direct(partitions).enqueueMany(IDS.map((id) => ({ id, payload: id })));
    },
    /**
     * Makes a call, and aborts it when its request has leased tasks, while the reply of Redis is held back.
     * @returns the error of the call
     */
    async abandon(partitions: number, call: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> {
      const leaving = new AbortController();
      held.holdNext();
      const error = call(leaving.signal).then(
        () => expect.unreachable("the call was answered"),
        (thrown: unknown) => thrown,
      );
      await expect.poll(async () => (await counts(partitions)).pending).toBeLessThan(IDS.length);
      leaving.abort();
      return error;
    },
    async expectUntouched(partitions: number) {
      await expect.poll(async () => (await counts(partitions)).pending).toBe(IDS.length);
      const infos = await Promise.all(IDS.map((id) => direct(partitions).get(id)));
      expect(infos).toMatchObject(IDS.map(() => ({ state: "pending", charged: 0 })));
      expect(await counts(partitions)).toMatchObject({ working: 0 });
    },
  };
}
