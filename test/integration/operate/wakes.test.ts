import { beforeEach, describe, expect, test } from "vitest";
import { Operator, type Waker } from "../../../src/index.ts";
import { bury } from "../../support/dead-letters.ts";
import { many, named, numbered } from "../../support/new-tasks.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

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
const field = async () => (await rig.space()).tasks.get("~wake");
const woke = async () => {
  const before = asked;
  asked = [];
  return before;
};

describe("a redrive wakes a consumer", () => {
  test.each([
    ["by id", { ids: ["t0", "t1"] }],
    ["of all, also if it takes several calls", {}],
  ])("%s, once, and notes it", async (_, options) => {
    await bury(rig.queue(), numbered(400));
    expect(await operator().redrive(options)).toMatchObject({ refused: [] });
    expect(await operator().redrive()).toMatchObject({ refused: [] });
    expect([asked, await field()]).toEqual([[QUEUE], `${START} ${START + 5_000} 5000`]);
    expect(await rig.queue().dequeue({ max: 400 })).toHaveLength(400);
  });

  test("for the first at once, and at the time of the next, if it has a rate", async () => {
    await bury(rig.queue(), named(["a", "b", "c"]));
    expect(await operator().redrive({ rate: 0.1 })).toMatchObject({ redriven: 3 });
    expect(asked).toEqual([QUEUE, [QUEUE, 10_000]]);
  });

  test("again for a resend: the answer to the first copy, and with it the wake, may have been lost", async () => {
    await bury(rig.queue(), named(["a", "b"]));
    const twice = new Operator(QUEUE, {
      transport: {
        async send(commands, options) {
          await rig.transport.send(commands, options);
          return rig.transport.send(commands, options);
        },
      },
      now: () => rig.now,
      wake,
    });
    expect(await twice.redrive({ ids: ["a"] })).toMatchObject({ redriven: 1 });
    expect(asked).toEqual([QUEUE]);
    rig.now += 1;
    await rig.queue().dequeue();
    asked = [];
    expect(await twice.redrive({ ids: ["b"] })).toMatchObject({ redriven: 1 });
    expect(asked).toEqual([]);
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

describe("a loosened limit wakes a consumer", () => {
  test("of the queue", async () => {
    await operator().configure({ rate: { most: 1, per: "1h" } });
    await rig.queue().enqueueMany(many(2));
    expect(await rig.queue().dequeue({ max: 2 })).toHaveLength(1);
    expect(await rig.queue().dequeue()).toHaveLength(0);
    await operator().configure({ rate: { most: 2, per: "1h" } });
    expect(asked).toEqual([QUEUE]);
    expect(await rig.queue().dequeue()).toHaveLength(1);
  });

  test("of a group, whose tasks are then ready", async () => {
    await operator().configureGroup("g", { maxWorking: 1 });
    await rig.queue().enqueueMany(many(3, { group: "g" }));
    expect(await rig.queue().dequeue({ max: 3 })).toHaveLength(1);
    await operator().configureGroup("g", { weight: 2 });
    expect(asked).toEqual([]);
    await operator().configureGroup("g", { maxWorking: 2 });
    expect(asked).toEqual([QUEUE]);
    expect(await rig.queue().dequeue({ max: 3 })).toHaveLength(1);
  });
});
