import { expect, test } from "vitest";
import type { QueueStatistics } from "../../src/index.ts";
import { controlFields } from "../support/key-space.ts";
import { key, START, useRig } from "../support/rig.ts";
import { many } from "../support/new-tasks.ts";

const rig = useRig();

const MINUTE = 60_000;
const BUCKET = 5 * MINUTE;
/** The start of the five minutes in which the rig begins. */
const FIRST = START - (START % BUCKET);

/** The buckets with events, by their number after the first, and how many tasks were enqueued and completed. */
function reported({ history = [] }: QueueStatistics): Record<number, [enqueued: number, completed: number]> {
  const counted = history.filter(({ enqueued, completed }) => enqueued + completed > 0);
  return Object.fromEntries(
    counted.map(({ startsAt, enqueued, completed }) => [(startsAt - FIRST) / BUCKET, [enqueued, completed]]),
  );
}

const statistics = () => rig.operator().statistics({ history: true });
const found = async () => reported(await statistics());
const on = () => rig.operator().configure({ statistics: true });
const fields = async () => controlFields(await rig.space(), /^~h\d/);
/** Goes to a minute after the first five minutes began. */
const goTo = (minute: number) => (rig.now = FIRST + minute * MINUTE);

test("the history has each five minutes of the last day, the current ones included", async () => {
  await on();
  goTo(1);
  await rig.queue().enqueueMany(many(2));
  goTo(4);
  await rig.queue().enqueueMany(many(3));
  expect(await found()).toEqual({ 0: [5, 0] });
  goTo(5);
  for (const task of await rig.queue().dequeue({ max: 2 })) await task.complete();
  expect(await found()).toEqual({ 0: [5, 0], 1: [0, 2] });
  goTo(62);
  await rig.queue().enqueue(1);
  const { history = [], minutes, totals } = await statistics();
  expect(reported({ history } as QueueStatistics)).toEqual({ 0: [5, 0], 1: [0, 2], 12: [1, 0] });
  expect(history).toHaveLength(288);
  expect(history.at(-1)?.startsAt).toBe(FIRST + 12 * BUCKET);
  // The hour has less of it, and the history as much as the totals.
  expect(minutes.filter(({ enqueued }) => enqueued > 0)).toMatchObject([{ enqueued: 3 }, { enqueued: 1 }]);
  const { waits, runs, calls } = totals;
  const sum = (read: (one: (typeof history)[number]) => number) =>
    history.reduce((total, one) => total + read(one), 0);
  expect(sum((one) => one.waits.total)).toBe(waits.total);
  expect(sum((one) => one.runs.count)).toBe(runs.count);
  expect(sum((one) => one.calls.enqueue)).toBe(calls.enqueue);
});

test("what is older than a day is left out, and its field is used anew", async () => {
  await on();
  goTo(0);
  await rig.queue().enqueueMany(many(7));
  goTo(6);
  await rig.queue().enqueue(1);
  goTo(24 * 60 - 1);
  await rig.queue().enqueueMany(many(2));
  expect(await found()).toEqual({ 0: [7, 0], 1: [1, 0], 287: [2, 0] });
  goTo(24 * 60 + 1);
  await rig.queue().enqueueMany(many(3));
  expect(await found()).toEqual({ 1: [1, 0], 287: [2, 0], 288: [3, 0] });
  goTo(24 * 60 + 2);
  await rig.queue().enqueueMany(many(4));
  expect(await found()).toEqual({ 1: [1, 0], 287: [2, 0], 288: [7, 0] });
  expect(Object.keys(await fields())).toHaveLength(3);
  goTo(3 * 24 * 60);
  expect(await found()).toEqual({});
});

test("a clock that is set back by a day begins buckets of its own", async () => {
  await on();
  goTo(24 * 60);
  await rig.queue().enqueueMany(many(2));
  goTo(3);
  await rig.queue().enqueueMany(many(3));
  goTo(5);
  await rig.queue().enqueue(1);
  expect(await found()).toEqual({ 0: [3, 0], 1: [1, 0] });
});

test("a bucket of a later release is not read, and begins anew with the next minute", async () => {
  await on();
  goTo(0);
  await rig.queue().enqueueMany(many(2));
  const field = `~h${(FIRST / BUCKET) % 288}`;
  await rig.command("HSET", key("tasks"), field, "2;other");
  goTo(5);
  expect(await found()).toEqual({ 0: [2, 0] });
  await rig.queue().enqueue(1);
  expect(await found()).toEqual({ 0: [2, 0], 1: [1, 0] });
  expect((await statistics()).totals).toMatchObject({ enqueued: 3 });
});

test("statistics that are turned off leave no field; without being asked there is no history", async () => {
  await on();
  goTo(0);
  await rig.queue().enqueue(1);
  goTo(5);
  await rig.queue().enqueue(1);
  expect(Object.keys(await fields())).toHaveLength(1);
  expect(await rig.operator().statistics()).not.toHaveProperty("history");
  await rig.operator().configure({ statistics: false });
  expect(await fields()).toEqual({});
  expect(await found()).toEqual({});
});

test("the history of partitions is their sum", async () => {
  await rig.operator().resize(3);
  await on();
  const queue = rig.queue({ partitions: 3 });
  goTo(0);
  await queue.enqueueMany(many(30));
  goTo(7);
  await queue.enqueueMany(many(20));
  expect(await found()).toEqual({ 0: [30, 0], 1: [20, 0] });
});
