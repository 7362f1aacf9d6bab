import { beforeEach, describe, expect, test } from "vitest";
import { Operator, type Waker } from "../../src/index.ts";
import { bury } from "../support/dead-letters.ts";
import { many, named } from "../support/new-tasks.ts";
import { QUEUE, useRig } from "../support/rig.ts";

// Operators wake the consumers of what they make ready.

const rig = useRig();

let asked: unknown[];
beforeEach(() => {
  asked = [];
});
const wake: Waker = {
  wake: (queue) => asked.push(queue),
  wakeAt: (queue, at) => asked.push([queue, at - rig.now]),
};
const operator = (more: Partial<Waker> = {}) =>
  new Operator(QUEUE, { transport: rig.transport, now: () => rig.now, wake: { ...wake, ...more } });
const woke = async () => {
  const before = asked;
  asked = [];
  return before;
};

describe("a redrive wakes a consumer", () => {
  test("for the first at once, and at the time of the next, if it has a rate", async () => {
    await bury(rig.queue(), named(["a", "b", "c"]));
    expect(await operator().redrive({ rate: 0.1 })).toMatchObject({ redriven: 3 });
    expect(asked).toEqual([QUEUE, [QUEUE, 10_000]]);
  });

  test("not for a later page, whose tasks are due later", async () => {
    await bury(rig.queue(), named(["a", "b"]));
    const { cursor } = await operator().redrive({ rate: 0.1, limit: 1 });
    expect(await woke()).toEqual([QUEUE]);
    expect(await rig.queue().dequeue({ max: 2 })).toHaveLength(1);
    expect(await rig.queue().dequeue()).toHaveLength(0);
    const later = await operator().redrive({ rate: 0.1, limit: 1, cursor: cursor ?? "" });
    expect([later.redriven, asked]).toEqual([1, []]);
  });
});

test("a resumed queue wakes a consumer if tasks are ready, also if a consumer met the pause a moment ago", async () => {
  await rig.queue({ wake }).enqueueMany(many(2));
  expect(await rig.queue().dequeue()).toHaveLength(1);
  await operator().pause();
  expect(await rig.queue().dequeue()).toHaveLength(0);
  await woke();
  await operator().resume();
  await operator().resume();
  expect(await woke()).toEqual([QUEUE]);
});

test.each([
  { priorities: [0, 0], where: "all in line" },
  { priorities: [1, 9], where: "all of a priority" },
  { priorities: [0, 9], where: "of both kinds" },
])("a resumed queue wakes a consumer for tasks $where", async ({ priorities }) => {
  await operator().pause();
  await rig.queue({ wake }).enqueueMany(priorities.map((priority) => ({ payload: 1, priority })));
  expect(await woke()).toEqual([]);
  await operator().resume();
  expect(await woke()).toEqual([QUEUE]);
});

test("a resumed group wakes a consumer if its tasks are ready, also if a consumer met the pause", async () => {
  await rig.queue({ wake }).enqueueMany(many(2, { group: "g" }));
  await operator().configureGroup("g", { paused: true });
  expect(await rig.queue({ wake }).dequeue()).toHaveLength(0);
  await woke();
  await operator().configureGroup("g", { paused: null });
  expect(await woke()).toEqual([QUEUE]);
  expect(await rig.queue().dequeue({ max: 2 })).toHaveLength(2);
});

test("a loosened limit of a group wakes a consumer, and its tasks are then ready", async () => {
  await operator().configureGroup("g", { maxWorking: 1 });
  await rig.queue().enqueueMany(many(3, { group: "g" }));
  expect(await rig.queue().dequeue({ max: 3 })).toHaveLength(1);
  await operator().configureGroup("g", { weight: 2 });
  expect(asked).toEqual([]);
  await operator().configureGroup("g", { maxWorking: 2 });
  expect(asked).toEqual([QUEUE]);
  expect(await rig.queue().dequeue({ max: 3 })).toHaveLength(1);
});
