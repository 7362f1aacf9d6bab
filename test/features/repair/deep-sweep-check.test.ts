import { expect, test } from "vitest";
import { deepSweep, Schedules } from "../../../src/index.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { checkScript } from "../../../src/features/repair/repair-scripts.ts";
import { deepTools, pageByPage } from "../../support/deep.ts";
import { numbered } from "../../support/new-tasks.ts";
import { recorded } from "../../support/recorded.ts";
import { key, QUEUE, useRig } from "../../support/rig.ts";
import { saboteur } from "../../support/saboteur.ts";

// A deep sweep first checks a queue quickly. If this check finds no fault, the whole sweep must not find one
// either.
const rig = useRig({ checkInvariants: false });
const { runDeepSweep, enqueue } = deepTools(rig);
/** The same blows each time, so that a failure comes from a change of the code. */
const seed = Number(process.env["SABOTAGE_SEED"] ?? 20_261_130);
const ids = numbered(24).map(({ id }) => id);

async function check() {
  const call = callOf(checkScript, queueKeys(QUEUE), { testNow: String(rig.now) });
  const [outcome] = await rig.transport.send([call]);
  return checkScript.decode(outcome && "reply" in outcome ? outcome.reply : "");
}

const wholeSweep = () => deepSweep(pageByPage(rig.transport), { now: () => rig.now, queue: QUEUE });

/** A small queue with an entry in each place. */
async function smallQueue(): Promise<void> {
  const operator = rig.operator();
  await operator.configure({ statistics: true, maxPending: 1_000 });
  await operator.configureGroup("capped", { maxWorking: 2 });
  await operator.configureGroup("slow", { rate: { most: 1, per: "1m" } });
  const kinds = [
    {},
    {},
    { group: "a" },
    { group: "capped" },
    { group: "slow", priority: 2 },
    { delay: 60_000 },
  ];
  await enqueue(
    ...ids.map((id, i) => ({ id, ...kinds[i % kinds.length], dedup: { key: id, window: "1h" as const } })),
  );
  for (const id of ["t0", "t1", "t2", "t5"]) await rig.queue().cancel(id);
  const held = await rig.queue().dequeue({ max: 12, worker: { name: "w", silentAfter: "1h" } });
  await held[0]?.complete({ done: true });
  await held[1]?.reject("no");
  await held[2]?.requeue({ delay: 500 });
}

test(`after acts of sabotage a whole sweep finds no fault that the quick check missed, and the check none after it (SABOTAGE_SEED=${seed})`, async () => {
  let sound = 0;
  for (let i = 0; i < 30; i++) {
    await rig.command("FLUSHALL");
    await smallQueue();
    expect(await check()).toMatchObject({ valid: true });
    const strike = saboteur(rig, seed + i, ids, new Set());
    const count = i < 20 ? 1 + (i % 2) : 6;
    for (let blows = 0; blows < count; blows++) await strike();
    const before = await rig.keySpace();
    const seen = await check().catch(() => ({ valid: false }));
    expect(await rig.keySpace()).toEqual(before);
    const { faults, failed } = await wholeSweep();
    if (seen.valid) {
      expect([seed + i, faults, failed]).toEqual([seed + i, [], []]);
      expect(await rig.keySpace()).toEqual(before);
      sound++;
    }
    // A count that the sweep's own repairs change is left to the next sweep.
    await wholeSweep();
    const { entries, ...last } = await wholeSweep();
    expect([seed + i, last.faults, last.failed]).toEqual([seed + i, [], []]);
    expect(await check()).toEqual({ valid: true, entries, hasFlows: false, hasSchedules: false });
  }
  // Some acts damage nothing.
  expect(sound).toBeLessThan(24);
});

test.each([
  ["more members in a place than it reads", 129, {}],
  ["more bytes than it reads", 40, { payload: "x".repeat(100_000) }],
])("a queue with %s is checked page by page", async (_, count, options) => {
  await enqueue(...numbered(count).map(({ id }) => ({ id, ...options })));
  expect(await check()).toMatchObject({ valid: null });
  expect(await runDeepSweep()).toMatchObject({ queues: 1, entries: 2 * count, faults: [] });
});

test("queues without faults share requests, and those after the end of the budget wait for the next call", async () => {
  for (const name of ["a", "b", "c", "d"]) {
    await rig.command("HSET", `sluice:{${name}}:tasks`, "~lease", "7");
    await rig.command("ZADD", "sluice:queues", String(rig.now), name);
  }
  await rig.command("LPUSH", "sluice:{c}:pending", "lost");
  const { transport, requests } = recorded(rig);
  const now = () => rig.now;
  expect(await deepSweep(transport, { budget: 0, now })).toMatchObject({ queues: 2, cursor: "c/working/0" });
  expect(requests).toHaveLength(2);
  const { faults, cursor } = await deepSweep(transport, { cursor: "c/working/0", now });
  expect([cursor, faults]).toMatchObject([null, [{ queue: "c", fault: "payload_missing" }]]);
});

test("the schedules of a queue without faults are checked too", async () => {
  const schedules = new Schedules(QUEUE, { transport: rig.transport, now: () => rig.now });
  await schedules.put("s", { every: "1h", payload: 1 });
  expect(await check()).toMatchObject({ valid: true, hasSchedules: true });
  await rig.command("HDEL", key("timetable"), "s");
  expect((await runDeepSweep()).faults).toMatchObject([{ fault: "schedule_broken", ids: ["s"] }]);
});
