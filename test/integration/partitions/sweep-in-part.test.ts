/** Sweeps that cannot reach one of several databases, or cannot read a marker: the others go on. */
import { expect, test } from "vitest";
import {
  databases,
  deepSweep,
  Operator,
  Queue,
  SluiceError,
  sweep,
  type Transport,
} from "../../../src/index.ts";
import { slotOf } from "../../../src/queue/core/partition-slots.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

const rig = useRig();
const MINUTE = 60_000;

/** A transport of another function instance, which remembers nothing. */
const instance = (): Transport => ({ send: (commands, options) => rig.transport.send(commands, options) });
const down: Transport = {
  send: () => Promise.reject(new SluiceError("redis_unreachable", "the database is down")),
};
const queueOf = (name: string, partitions?: "stored") =>
  new Queue(name, { transport: instance(), now: () => rig.now, partitions });
const run = (transport: Transport) => sweep(transport, { now: () => rig.now });

/** An id whose task is in that partition. */
async function idIn(partition: number): Promise<string> {
  const { owners } = await fetchMap({ name: QUEUE, prefix: undefined, transport: instance() });
  const ids = Array.from({ length: 99 }, (_, i) => `order-${i}`);
  return ids.find((id) => owners[slotOf(id)] === partition) as string;
}

test("a database that is down for over ten minutes stops no sweep of other partitions and queues", async () => {
  await new Operator(QUEUE, { transport: instance(), now: () => rig.now }).resize(2);
  await queueOf(QUEUE, "stored").enqueue(1, { id: await idIn(1) });
  await queueOf("other").enqueue(1, { id: "later", delay: "15m" });
  rig.now = START + 14 * MINUTE;
  // These have new notes. The note of the partition that cannot be reached is old, so it is checked alone.
  await queueOf(QUEUE, "stored").enqueue(1, { id: await idIn(0), delay: "1m" });
  await queueOf("other").enqueue(1);
  rig.now = START + 15 * MINUTE;
  expect(await run(databases([instance(), down]))).toMatchObject({
    promoted: 2,
    failed: [{ queue: QUEUE, code: "redis_unreachable" }],
  });
});

test("a database that is down is reported also if nothing else is to be swept", async () => {
  await new Operator(QUEUE, { transport: instance(), now: () => rig.now }).resize(2);
  await queueOf(QUEUE, "stored").enqueue(1, { id: await idIn(1) });
  await rig.command("ZADD", "sluice:queues", String(-START), `${QUEUE}/0`);
  expect(await run(databases([instance(), down]))).toMatchObject({
    failed: [{ queue: QUEUE, code: "redis_unreachable" }],
  });
});

test("a database that is down stops no deep sweep of other partitions and queues", async () => {
  await new Operator(QUEUE, { transport: instance(), now: () => rig.now }).resize(2);
  await queueOf(QUEUE, "stored").enqueue(1, { id: await idIn(1) });
  // The last in order.
  await queueOf("other").enqueue(1);
  const { faults, failed, cursor, queues } = await deepSweep(databases([instance(), down]), {
    now: () => rig.now,
  });
  expect({ faults, failed, cursor, queues }).toEqual({
    faults: [],
    failed: [{ queue: QUEUE, partition: 1, code: "redis_unreachable" }],
    cursor: null,
    queues: 2,
  });
});

test("a database that is down hides no marker from a sweep", async () => {
  await new Operator(QUEUE, { transport: instance(), now: () => rig.now }).resize(2);
  await queueOf(QUEUE, "stored").enqueue(1, { id: await idIn(1) });
  // Only an error of Redis and one of the transport: no command of the request has another outcome.
  await rig.command("ZADD", "sluice:queues", String(-START), `${QUEUE}/0`, String(START), QUEUE);
  expect(await run(databases([instance(), down]))).toMatchObject({
    failed: [{ queue: QUEUE, code: "redis_unreachable" }],
  });
  expect(await rig.command("ZSCORE", "sluice:queues", QUEUE)).toBe(null);
});

test("a marker of a later release stops no sweep of other queues (law 12)", async () => {
  for (const name of ["new", "other"]) {
    await new Operator(name, { transport: instance(), now: () => rig.now }).resize(2);
  }
  await rig.command("SET", "sluice:{new}:tasks", "2;2");
  // As a client leaves it that does not know of the partitions. Only a sweep that goes on moves it.
  await rig.command("ZADD", "sluice:queues", String(START), "new", String(START), "other");
  const { failed } = await run(instance());
  expect(failed).toEqual([{ queue: "new", code: "newer_schema" }]);
  expect(await rig.command("ZSCORE", "sluice:queues", "other")).toBe(null);
});
