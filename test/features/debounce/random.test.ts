import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { KeyedEnqueueOptions } from "../../../src/features/debounce/types.ts";
import type { LeasedTask } from "../../../src/index.ts";
import { violations } from "../../support/invariants.ts";
import { START, useRig } from "../../support/rig.ts";
import { KeyModel } from "./key-model.ts";
import { useKeyed } from "./keyed-queue.ts";

const rig = useRig();
const { queue } = useKeyed(rig);

const key = fc.constantFrom("a", "b");
const place = fc.constantFrom({}, {}, { group: "g" }, { group: "h", priority: 3 });
const delay = fc.constantFrom({}, {}, { delay: 3_000 });
const keyed: fc.Arbitrary<KeyedEnqueueOptions> = fc.oneof(
  fc.record({
    debounce: fc.record({
      key,
      wait: fc.constantFrom(1_000, 4_000),
      maxWait: fc.constantFrom(undefined, 6_000),
      keep: fc.constantFrom("last", "last", "first", "all"),
    }),
  }),
  fc.record({
    throttle: fc.record({
      key,
      most: fc.constantFrom(1, 2),
      per: fc.constant(5_000),
      excess: fc.constantFrom("drop", "delay"),
    }),
  }),
  fc
    .record({
      singleton: fc.record({
        key,
        while: fc.constantFrom("waiting", "unfinished"),
        then: fc.constantFrom("drop", "replace", "cancel"),
      }),
      delay,
    })
    .map(({ singleton, delay: given }) => ({ singleton, ...given })),
  fc
    .record({ id: fc.constantFrom("x", "y"), delay })
    .map(({ id, delay: given }) => ({ id, replace: true, ...given })),
);

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant("enqueue"), options: keyed, place }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("resend"), last: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("take"), max: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom("complete", "requeue", "cancel", "sweep") }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("advance"), by: fc.integer({ min: 1, max: 3_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("forget"), key }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Runs steps, and compares the queue with the model after each of them. */
async function compare(steps: readonly Step[]): Promise<void> {
  await rig.command("FLUSHALL");
  rig.now = START;
  const model = new KeyModel();
  const held: LeasedTask[] = [];
  const calls: (() => Promise<unknown>)[] = [];
  const answers: unknown[] = [];
  for (const [i, one] of steps.entries()) {
    if ("options" in one) {
      const options = { ...one.options, ...one.place, idempotencyKey: `k${i}` } as KeyedEnqueueOptions;
      const call = () => queue().enqueue(i, options);
      const answer = await call();
      const expected = model.enqueue(rig.now, i, options, answer.id);
      expect(answer).toEqual({
        id: expected.task?.id ?? answer.id,
        created: expected.outcome === "created",
        outcome: expected.outcome,
      });
      calls.push(call);
      answers.push(answer);
    } else if ("last" in one && calls.length > 0) {
      const at = Math.max(0, calls.length - one.last);
      expect(await calls[at]?.()).toEqual(answers[at]);
    } else if ("by" in one) rig.now += one.by;
    else if ("key" in one) {
      await queue().forgetKey(one.key);
      model.forget(one.key);
    } else await work(one, model, held);
    for (const task of model.tasks.values()) {
      const found = await queue().get(task.id, { payload: true });
      const isOver = found?.state === "completed" || found?.state === "rejected";
      expect([task.id, isOver]).toEqual([task.id, task.state === "ended"]);
      if (!isOver) expect([task.id, found?.payload]).toEqual([task.id, task.payload]);
      if (found?.state === "delayed") expect([task.id, found.dueAt]).toEqual([task.id, task.due]);
      else if (!isOver) expect(task.due).toBeLessThanOrEqual(rig.now);
    }
    expect(violations(await rig.space())).toEqual([]);
  }
}

/** A step of a consumer, a caller who cancels, or a sweep. */
async function work(one: Step, model: KeyModel, held: LeasedTask[]): Promise<void> {
  if ("max" in one) {
    const tasks = await queue().dequeue({ max: one.max, lease: "1d" });
    for (const { id } of tasks) {
      const task = model.tasks.get(id);
      expect(["waiting", "again"]).toContain(task?.state);
      task!.state = "working";
    }
    held.push(...tasks);
    const isLeft = [...model.tasks.values()].some(
      ({ state, due }) => (state === "waiting" || state === "again") && due <= rig.now,
    );
    if (tasks.length < one.max) expect(isLeft).toBe(false);
    return;
  }
  const known = [...model.tasks.values()];
  if (one.does === "sweep") await rig.sweepOnce();
  if (one.does === "cancel" && known.length > 0) {
    const task = known[known.length >> 1]!;
    await queue().cancel(task.id);
    if (task.state !== "working") task.state = "ended";
  }
  const task = one.does === "complete" || one.does === "requeue" ? held.shift() : undefined;
  if (!task) return;
  const of = model.tasks.get(task.id)!;
  const settled = one.does === "complete" ? await task.complete() : await task.requeue({ delay: "2s" });
  const state = settled.ok && settled.state;
  of.state = state === "completed" || state === "rejected" ? "ended" : "again";
  of.due = rig.now + 2_000;
}

test("random calls with keys are answered as the model says, and leave what it has (I1 I2 I7, law 5)", async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), compare), {
    numRuns: 100,
  });
}, 120_000);
