/** Sweeps that cannot reach one of several databases, or cannot read a marker: the others go on. */
import { beforeEach, describe, expect, test } from "vitest";
import { databases, deepSweep, Operator, Queue, SluiceError, type Transport } from "../../../src/index.ts";
import { instances } from "../../support/instances.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

const rig = useRig();
const { now, instance, over, queueOf, resize, textIn, run } = instances(rig);
const MINUTE = 60_000;
const other = () => new Queue("other", over(instance()));

describe("a database that is down", () => {
  const down: Transport = {
    send: () => Promise.reject(new SluiceError("redis_unreachable", "the database is down")),
  };
  const withOneDown = () => databases([instance(), down]);
  const failed = [{ queue: QUEUE, code: "redis_unreachable" }];

  beforeEach(async () => {
    await resize(2);
    await queueOf("stored").enqueue(1, { id: await textIn(1) });
  });

  test("for over ten minutes stops no sweep of other partitions and queues", async () => {
    await other().enqueue(1, { id: "later", delay: "15m" });
    rig.now = START + 14 * MINUTE;
    // These have new notes. The note of the partition that cannot be reached is old, so it is checked alone.
    await queueOf("stored").enqueue(1, { id: await textIn(0), delay: "1m" });
    await other().enqueue(1);
    rig.now = START + 15 * MINUTE;
    expect(await run(withOneDown())).toMatchObject({
      promoted: 2,
      failed,
    });
  });

  test("is reported also if nothing else is to be swept", async () => {
    await rig.command("ZADD", "sluice:queues", String(-START), `${QUEUE}/0`);
    expect(await run(withOneDown())).toMatchObject({
      failed,
    });
  });

  test("stops no deep sweep of other partitions and queues", async () => {
    // The last in order.
    await other().enqueue(1);
    const { faults, cursor, queues, ...report } = await deepSweep(withOneDown(), { now });
    expect({ faults, failed: report.failed, cursor, queues }).toEqual({
      faults: [],
      failed: [{ queue: QUEUE, partition: 1, code: "redis_unreachable" }],
      cursor: null,
      queues: 2,
    });
  });

  test("hides no marker from a sweep", async () => {
    // Only an error of Redis and one of the transport: no command of the request has another outcome.
    await rig.command("ZADD", "sluice:queues", String(-START), `${QUEUE}/0`, String(START), QUEUE);
    expect(await run(withOneDown())).toMatchObject({
      failed,
    });
    expect(await rig.command("ZSCORE", "sluice:queues", QUEUE)).toBe(null);
  });
});

test("a marker of a later release stops no sweep of other queues (law 12)", async () => {
  for (const name of ["new", "other"]) {
    await new Operator(name, over(instance())).resize(2);
  }
  await rig.command("SET", "sluice:{new}:tasks", "2;2");
  // As a client leaves it that does not know of the partitions. Only a sweep that goes on moves it.
  await rig.command("ZADD", "sluice:queues", String(START), "new", String(START), "other");
  const { failed } = await run();
  expect(failed).toEqual([{ queue: "new", code: "newer_schema" }]);
  expect(await rig.command("ZSCORE", "sluice:queues", "other")).toBe(null);
});
