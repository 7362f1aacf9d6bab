/** Calls of operators on all partitions, while another caller changes how many there are. */
import { describe, expect, test } from "vitest";
import { applyQueues, defineQueue, Operator, Queue } from "../../../src/index.ts";
import { nameOfPartition, queueKeys } from "../../../src/queue/core/keys.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });

/** The transport of a function instance of its own. `before` runs before its nth request. */
const instance = (before: (request: number) => Promise<void> = async () => {}): Transport => {
  let requests = 0;
  return {
    send: async (commands, options) => {
      await before(requests++);
      return rig.transport.send(commands, options);
    },
  };
};
const operatorOf = (transport: Transport) =>
  new Operator(QUEUE, { transport, partitions: "stored", now: () => rig.now });
const grow = (count: number, transport = instance()) =>
  resizeQueue({ name: QUEUE, prefix: undefined, transport, now: () => rig.now, copySettings }, count);

/** What each partition has of a control field. */
const fieldsOf = (field: string, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, partition) =>
      rig.command("HGET", queueKeys(nameOfPartition(QUEUE, partition)).tasks, field),
    ),
  );

describe("after another instance has added partitions", () => {
  test("pause, limits of groups and deletion reach all of them at once", async () => {
    await grow(2);
    const operator = operatorOf(instance());
    await operator.settings();
    await operator.statistics();
    await grow(6);
    await operator.pause();
    expect(await fieldsOf("~set", 6)).toEqual(Array(6).fill("1;p=1"));
    await grow(7);
    expect(await operator.configureGroup("g", { maxWorking: 3 })).toMatchObject({ maxWorking: 3 });
    expect(await fieldsOf("~s:g", 7)).toEqual(Array(7).fill("1;m=3;n=1"));
    await grow(9);
    await new Queue(QUEUE, { transport: instance(), partitions: 9, now: () => rig.now }).enqueueMany(
      Array.from({ length: 50 }, (_, i) => ({ payload: i, id: `t${i}` })),
    );
    expect(await operator.purge({ state: "pending" })).toMatchObject({ purged: 50 });
    await grow(11);
    expect(await operator.deleteQueue()).toEqual({ ok: true });
    expect(await fieldsOf("~set", 11)).toEqual(Array(11).fill(null));
  });

  test("a deployment that adds partitions gives the new ones its settings", async () => {
    const transport = instance();
    await grow(2);
    await operatorOf(transport).statistics();
    const declared = defineQueue(QUEUE, { partitions: 5, events: true });
    await applyQueues(transport, [declared], { now: () => rig.now });
    expect(await fieldsOf("~set", 5)).toEqual(Array(5).fill("1;e=1"));
  });
});

test("a change at any moment of a growth holds in all partitions", async () => {
  let requests = 1;
  let moment = 0;
  for (; moment < requests; moment++) {
    await rig.command("FLUSHALL");
    await grow(2);
    await operatorOf(instance()).pause();
    await operatorOf(instance()).configureGroup("g", { weight: 2 });
    const operator = operatorOf(instance());
    await operator.statistics();
    requests = 0;
    const growing = instance(async (request) => {
      requests++;
      if (request !== moment) return;
      await operator.resume();
      await operator.configureGroup("g", { weight: 5 });
    });
    await grow(4, growing);
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
    await grow(2);
    const operator = operatorOf(
      instance(async (request) => {
        if (request === moment) await grow(4);
      }),
    );
    await operator.pause();
    await operator.configureGroup("g", { weight: 5 });
    await grow(4);
    expect(await fieldsOf("~set", 4), `at request ${moment}`).toEqual(Array(4).fill("1;p=1"));
    expect(await fieldsOf("~s:g", 4), `at request ${moment}`).toEqual(Array(4).fill("1;k=5"));
  }
});
