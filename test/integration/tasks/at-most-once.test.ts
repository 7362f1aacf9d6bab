import { describe, expect, test } from "vitest";
import type { Settled } from "../../../src/index.ts";
import { dice } from "../../support/dice.ts";
import { numbered } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();

describe("complete first, then work: at most once", () => {
  test("of all holders of a task exactly one gets ok, in any order", async () => {
    const queue = rig.queue({ lease: 1_000, maxAttempts: 0 });
    const roll = dice(1);
    const holders: number[] = [];
    // How often consumers race depends on the speed of the store.
    for (const task of numbered(1_000)) {
      if (holders.length >= 40 && holders.filter((count) => count > 1).length > 10) break;
      await queue.enqueueMany([task]);
      const reported: { attempt: number; answer: Settled }[] = [];
      // During the work the lease may expire, and another of the racing consumers may lease the task.
      const consume = async () => {
        for (let tries = 0; !reported.some(({ answer }) => answer.ok); tries++) {
          expect(tries).toBeLessThan(1_000);
          const [held] = await queue.dequeue();
          for (let work = 8 * roll(); work >= 0; work--) {
            rig.now += 100 * roll();
            await queue.counts();
          }
          if (held) reported.push({ attempt: held.attempt, answer: await held.complete() });
        }
      };
      await Promise.all(Array.from({ length: 5 }, consume));
      // Each holder got an answer, and only the last one was in time.
      const answers = reported.toSorted((one, other) => one.attempt - other.attempt);
      expect(answers.map(({ attempt }) => attempt)).toEqual(answers.map((_, i) => i + 1));
      expect(answers.pop()?.answer).toMatchObject({ ok: true, state: "completed" });
      for (const { answer } of answers) expect(answer).toMatchObject({ ok: false, code: "lease_lost" });
      holders.push(answers.length + 1);
    }
    expect(holders.filter((count) => count > 1).length).toBeGreaterThan(10);
  });

  test("racing consumers that complete before they work do each task at most once, also if some die in between", async () => {
    const queue = rig.queue({ lease: 1_000 });
    await queue.enqueueMany(numbered(200));
    const done = new Map<string, number>();
    let died = 0;
    const consume = async (every: number) => {
      for (let n = 1; ; n++) {
        const tasks = await queue.dequeue({ max: 3 });
        if (tasks.length === 0) return;
        for (const task of tasks) {
          const mine = await task.complete();
          if (!mine.ok) continue;
          if (n % every === 0) {
            died++;
            continue;
          }
          done.set(task.id, (done.get(task.id) ?? 0) + 1);
        }
      }
    };
    await Promise.all([consume(7), consume(11), consume(13), consume(5)]);
    rig.now += 10_000;
    await rig.sweepOnce();
    expect(await queue.dequeue({ max: 10 })).toHaveLength(0);
    expect([...done.values()].every((times) => times === 1)).toBe(true);
    expect(done.size + died).toBe(200);
  });

  // A receipt belongs to one caller. Callers that share it, or the token of its dequeue, count as that
  // caller.
  test("two callers with one receipt both get ok for the same outcome, and the first result is kept", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { id: "a" });
    const [one] = await queue.dequeue({ token: "token-01" });
    const [two] = await queue.dequeue({ token: "token-01" });
    expect(two?.receipt).toBe(one?.receipt);
    const ok = { receipt: one?.receipt, ok: true, state: "completed" };
    expect(await one?.complete("first")).toEqual(ok);
    const before = await rig.keySpace();
    expect(await two?.complete("second")).toEqual(ok);
    expect(await rig.keySpace()).toEqual(before);
    expect(await queue.get("a")).toMatchObject({ state: "completed", result: "first" });
  });
});
