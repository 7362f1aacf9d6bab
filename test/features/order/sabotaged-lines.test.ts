import { expect, test } from "vitest";
import { deepSweep } from "../../../src/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { checkScript } from "../../../src/features/repair/repair-scripts.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { pageByPage } from "../../support/deep.ts";
import { violations } from "../../support/invariants.ts";
import { numbered } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { saboteur } from "../../support/saboteur.ts";

const rig = useRig({ checkInvariants: false });
/** The same blows each time, so that a failure comes from a change of the code. */
const seed = Number(process.env["SABOTAGE_SEED"] ?? 20_261_130);
const ids = numbered(24).map(({ id }) => id);
const GROUPS = ["a", "b", "c", "d"];
const open = () => rig.queue<number>({ transport: linked(rig.transport) });

async function check() {
  const call = callOf(checkScript, queueKeys(QUEUE), { testNow: String(rig.now) });
  const [outcome] = await rig.transport.send([call]);
  return checkScript.decode(outcome && "reply" in outcome ? outcome.reply : "");
}

const wholeSweep = () => deepSweep(pageByPage(rig.transport), { now: () => rig.now, queue: QUEUE });

/** Groups with lines: one whose head works, one whose head is delayed, one that is stopped, one at a limit. */
async function queueWithLines(): Promise<void> {
  const operator = rig.operator();
  await operator.configure({ order: "strict", onDead: "stop" });
  await operator.configureGroup("d", { maxWorking: 1 });
  await open().enqueueMany(ids.map((id, i) => ({ payload: i, id, group: GROUPS[i % 4] as string })));
  const held = await open().dequeue({ max: 3 });
  await held[1]?.requeue({ delay: "1m" });
  await held[2]?.reject("no");
}

test(`after acts of sabotage, deep sweeps repair all lines, the quick check misses no fault, and each group goes on (SABOTAGE_SEED=${seed})`, async () => {
  for (let i = 0; i < 30; i++) {
    await rig.command("FLUSHALL");
    await queueWithLines();
    expect(await check()).toMatchObject({ valid: true });
    const destroyed = new Set<string>();
    const strike = saboteur(rig, seed + i, ids, destroyed);
    for (let blows = 0; blows <= i % 6; blows++) await strike();
    const before = await rig.keySpace();
    const seen = await check().catch(() => ({ valid: false }));
    const { faults, failed } = await wholeSweep();
    expect([seed + i, failed]).toEqual([seed + i, []]);
    if (seen.valid) {
      expect([seed + i, faults]).toEqual([seed + i, []]);
      expect(await rig.keySpace()).toEqual(before);
    }
    // The repairs of one deep sweep can uncover more.
    for (let more = 1, sweeps = 0; more > 0 && sweeps < 4; sweeps++)
      more = (await wholeSweep()).faults.length;
    const { entries, ...last } = await wholeSweep();
    expect([seed + i, last.faults, last.failed]).toEqual([seed + i, [], []]);
    expect([seed + i, violations(await rig.space())]).toEqual([seed + i, []]);
    expect(await check()).toEqual({ valid: true, entries, hasSchedules: false, hasFlows: false });
    await finish(destroyed, seed + i);
  }
});

/** Works on the queue until nothing is left. Each task that was not destroyed ends; of a group, one at a time. */
async function finish(destroyed: ReadonlySet<string>, of: number): Promise<void> {
  const operator = rig.operator();
  const { order } = await operator.settings();
  const ended = new Set<string>();
  for (let idle = 0; idle < 2; rig.now += 3_600_000) {
    if ((await operator.settings()).paused) await operator.resume();
    for (const { id } of (await operator.stoppedGroups()).groups) await operator.skip(id);
    const tasks = await open().dequeue({ max: 10 });
    const groups = tasks.map(({ group }) => group);
    if (order === "strict") expect([of, new Set(groups).size]).toEqual([of, groups.length]);
    for (const task of tasks) if ((await task.complete()).ok) ended.add(task.id);
    idle = tasks.length === 0 ? idle + 1 : 0;
  }
  const { dead } = await rig.space();
  const lost = ids.filter((id) => !ended.has(id) && !dead.has(id) && !destroyed.has(id));
  expect([of, lost, violations(await rig.space())]).toEqual([of, [], []]);
}
