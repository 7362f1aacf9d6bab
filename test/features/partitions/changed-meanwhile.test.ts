/** Calls of operators on all partitions, while another caller changes how many there are. */
import { expect, test } from "vitest";
import { instances } from "../../support/instances.ts";
import { numbered } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });
const { instance, between, queueOf, operatorOf, resize, fieldsOf } = instances(rig);

test("after another instance has added partitions, pause, limits of groups, purge and deletion reach all of them at once", async () => {
  await resize(2);
  const operator = operatorOf("stored");
  await operator.settings();
  await operator.statistics();
  await resize(6);
  await operator.pause();
  expect(await fieldsOf("~set", 6)).toEqual(Array(6).fill("1;p=1"));
  expect(await queueOf().counts()).toMatchObject({ paused: true });
  await resize(7);
  expect(await operator.configureGroup("g", { maxWorking: 3 })).toMatchObject({ maxWorking: 3 });
  expect(await fieldsOf("~s:g", 7)).toEqual(Array(7).fill("1;m=3;n=1"));
  await resize(9);
  await queueOf(9).enqueueMany(numbered(50));
  expect(await operator.purge({ state: "pending" })).toMatchObject({ purged: 50 });
  await resize(11);
  expect(await operator.deleteQueue()).toEqual({ ok: true });
  expect(await fieldsOf("~set", 11)).toEqual(Array(11).fill(null));
});

test("a change at any moment of a growth holds in all partitions", async () => {
  let requests = 1;
  let moment = 0;
  for (; moment < requests; moment++) {
    await rig.command("FLUSHALL");
    await resize(2);
    await operatorOf("stored").pause();
    await operatorOf("stored").configureGroup("g", { weight: 2 });
    const operator = operatorOf("stored");
    await operator.statistics();
    requests = 0;
    const growing = instance(async (request) => {
      requests++;
      if (request !== moment) return;
      await operator.resume();
      await operator.configureGroup("g", { weight: 5 });
    });
    await resize(4, growing);
    // The growth was over before.
    if (requests <= moment) break;
    expect(await fieldsOf("~set", 4), `at request ${moment}`).toEqual(Array(4).fill(null));
    expect(await fieldsOf("~s:g", 4), `at request ${moment}`).toEqual(Array(4).fill("1;k=5"));
  }
  expect(moment).toBeGreaterThan(8);
});

test("a growth at any moment of a change does not leave a partition without it", async () => {
  for (let moment = 0; moment < 8; moment++) {
    await rig.command("FLUSHALL");
    await resize(2);
    const operator = operatorOf(
      "stored",
      between(moment, () => resize(4)),
    );
    await operator.pause();
    await operator.configureGroup("g", { weight: 5 });
    await resize(4);
    expect(await fieldsOf("~set", 4), `at request ${moment}`).toEqual(Array(4).fill("1;p=1"));
    expect(await fieldsOf("~s:g", 4), `at request ${moment}`).toEqual(Array(4).fill("1;k=5"));
  }
});
