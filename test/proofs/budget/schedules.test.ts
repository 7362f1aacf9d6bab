import { beforeEach, describe, expect, test } from "vitest";
import { deepSweep, Schedules, sweep } from "../../../src/index.ts";
import { IDLE_SWEEP, useBilled } from "../../support/billed.ts";

// What schedules cost; exact, as in commands.test.ts.

const FAR = 4_000_000_000_000;
const daily = { every: "1d", from: FAR, payload: 1 } as const;

const billed = useBilled();
const { cost } = billed;
let schedules: Schedules;
beforeEach(() => {
  schedules = new Schedules(billed.queue.name, { transport: billed.transport });
});

const swept = () => cost(() => sweep(billed.transport));

/** Sets when schedules and their reminder are due. */
async function makeDue(at: number, names: readonly string[]) {
  await billed.rescore("schedules", at, names);
  await billed.client.zadd("sluice:queues", { xx: true }, { score: at, member: `~${billed.queue.name}` });
}

test("putting a schedule costs 17, 18 to change it, to pause or to resume it, 6 to remove it", async () => {
  expect(await cost(() => schedules.put("x", daily))).toBe(17);
  expect(await cost(() => schedules.put("x", { ...daily, payload: 2 }))).toBe(18);
  expect(await cost(() => schedules.pause("x"))).toBe(18);
  expect(await cost(() => schedules.resume("x"))).toBe(18);
  expect(await cost(() => schedules.remove("x"))).toBe(6);
});

test("reading one costs 3, a page 3, an empty page 2; a sweep nothing more if none is due, a deep sweep 3 more", async () => {
  const deep = () => cost(() => deepSweep(billed.transport, { queue: billed.queue.name }));
  const without = await deep();
  expect(await cost(() => schedules.list())).toBe(2);
  expect(await swept()).toBe(IDLE_SWEEP);
  for (const name of ["x", "y", "z"]) await schedules.put(name, daily);
  expect(await cost(() => schedules.list())).toBe(3);
  expect(await cost(() => schedules.get("x"))).toBe(3);
  expect(await swept()).toBe(IDLE_SWEEP);
  expect(await deep()).toBe(without + 3);
});

describe("a sweep", () => {
  test("costs 17 more for one occurrence or a hundred of one schedule, 20 for one each of fifty", async () => {
    await schedules.put("x", { ...daily, from: Date.now() + 60_000 });
    await makeDue(Date.now() - 1, ["x"]);
    expect(await swept()).toBe(IDLE_SWEEP + 17);

    const from = Date.now() - 99_500;
    await schedules.put("x", { every: "1s", from, missed: "all", payload: 1 });
    await makeDue(from, ["x"]);
    expect(await swept()).toBe(IDLE_SWEEP + 17);
    expect((await billed.queue.counts()).pending).toBeGreaterThan(100);
    await schedules.remove("x");

    const names = Array.from({ length: 50 }, (_, i) => `s${i}`);
    for (const name of names) await schedules.put(name, { ...daily, from: Date.now() + 60_000 });
    await makeDue(Date.now() - 1, names);
    expect(await swept()).toBe(IDLE_SWEEP + 20);
  });

  test("costs 7 more if a reminder leads to nothing", async () => {
    await schedules.put("x", daily);
    await schedules.remove("x");
    await makeDue(1, []);
    expect(await swept()).toBe(IDLE_SWEEP + 7);
    expect(await swept()).toBe(IDLE_SWEEP);
  });
});

test("the note for a resend costs only calls that find no schedule: 2 with a key, nothing without", async () => {
  const key = () => ({ idempotencyKey: crypto.randomUUID() });
  await schedules.put("x", daily);
  for (const verb of ["pause", "resume"] as const) {
    expect(await cost(() => schedules[verb]("x", key()))).toBe(18);
    expect(await cost(() => schedules[verb]("y"))).toBe(3);
    expect(await cost(() => schedules[verb]("y", key()))).toBe(5);
  }
  expect(await cost(() => schedules.put("y", daily, key()))).toBe(17);
});
