import { expect, test } from "vitest";
import type { Settled } from "../../src/index.ts";
import { dice } from "../support/dice.ts";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();

test("complete first, then work: of all holders of a task exactly one gets ok, in any order", async () => {
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
