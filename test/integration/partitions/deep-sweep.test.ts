import { tagged } from "../../support/key-space.ts";
import { expect, test } from "vitest";
import { deepSweep, Queue } from "../../../src/index.ts";
import { checkQueues } from "../../../src/queue/repair/check-queues.ts";
import type { Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();
const partitions = 3;
const names = [0, 1, 2].map((at) => `${QUEUE}/${at}`);
const now = () => rig.now;

/** The transport of another function instance, which remembers nothing. */
const instance = (): Transport => ({ send: (commands, options) => rig.transport.send(commands, options) });

async function fill(): Promise<void> {
  await rig
    .operator({ partitions })
    .configure({ maxWorking: 2, maxPending: 100, rate: { most: 2, per: "1s" } });
  const tasks = Array.from({ length: 30 }, (_, i) => ({ payload: i, id: `t${i}`, priority: i % 2 }));
  await rig.queue({ partitions }).enqueueMany(tasks);
}

const isValid = async () => {
  const checks = await checkQueues(rig.transport, names, { now });
  return names.map((name) => checks.get(name)?.valid);
};

test("the notes of slots and shares are valid, and stay", async () => {
  await fill();
  expect(await isValid()).toEqual([true, true, true]);
  const before = await rig.keySpace();
  expect(await deepSweep(rig.transport, { queue: QUEUE, now })).toMatchObject({
    queues: 1,
    faults: [],
    failed: [],
  });
  // Also the pass through each key, which a fault elsewhere causes.
  for (const name of names) await rig.command("LPUSH", `sluice:${tagged(name)}:pending`, "lost");
  await deepSweep(rig.transport, { queue: QUEUE, now });
  for (const name of names) {
    const tasks = await rig.keySpace();
    const hash = (space: typeof before) => {
      const value = space[`sluice:${tagged(name)}:tasks`];
      return "hash" in (value ?? {}) ? (value as { hash: Record<string, string> }).hash : {};
    };
    for (const field of ["~slots", "~shares", "~set"]) expect(hash(tasks)[field]).toBe(hash(before)[field]);
  }
});

test("faults name the partition, and a cursor continues with the next one", async () => {
  await fill();
  for (const at of [1, 2]) await rig.command("LPUSH", `sluice:{${QUEUE}/${at}}:pending`, "lost");
  for (const given of [{ queue: QUEUE }, {}]) {
    const found: unknown[] = [];
    const queues: number[] = [];
    let cursor: string | undefined;
    do {
      const report = await deepSweep(rig.transport, { ...given, cursor, budget: 0, now });
      found.push(...report.faults);
      queues.push(report.queues);
      cursor = report.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual(
      given.queue === undefined
        ? []
        : [1, 2].map((partition) => ({
            queue: QUEUE,
            partition,
            fault: "payload_missing",
            count: 1,
            ids: ["lost"],
          })),
    );
    expect(Math.max(...queues)).toBe(1);
  }
  expect(await isValid()).toEqual([true, true, true]);
  await expect(
    deepSweep(rig.transport, { queue: "other", cursor: `${QUEUE}/1/working/0` }),
  ).rejects.toMatchObject({
    path: "cursor",
  });
});

test("a queue that gets its first partitions during a deep sweep is checked in all of them", async () => {
  let requests = 1;
  let moment = 0;
  for (; moment < requests; moment++) {
    await rig.command("FLUSHALL");
    await rig.queue().enqueueMany(Array.from({ length: 30 }, (_, i) => ({ payload: i, id: `t${i}` })));
    await rig.command("LPUSH", `sluice:{${QUEUE}}:pending`, "lost");
    requests = 0;
    const transport: Transport = {
      send: async (commands, options) => {
        if (requests++ === moment) await rig.operator({ transport: instance() }).resize(partitions);
        return rig.transport.send(commands, options);
      },
    };
    const report = await deepSweep(transport, { queue: QUEUE, now });
    const faults = [{ queue: QUEUE, fault: "payload_missing", count: 1, ids: ["lost"] }];
    expect({ moment, ...report }).toMatchObject({ moment, queues: 1, faults, failed: [], cursor: null });
    expect((await deepSweep(instance(), { queue: QUEUE, now })).faults, `at request ${moment}`).toEqual([]);
  }
  expect(moment).toBeGreaterThan(4);
});

test("a deep sweep that its budget ends goes on with the partitions that a queue has got meanwhile", async () => {
  await rig.queue().enqueueMany(Array.from({ length: 30 }, (_, i) => ({ payload: i, id: `t${i}` })));
  await rig.command("LPUSH", `sluice:{${QUEUE}}:pending`, "lost");
  let requests = 0;
  const transport: Transport = {
    send: async (commands, options) => {
      if (requests++ === 2) {
        await rig.operator({ transport: instance() }).resize(partitions);
        const more = Array.from({ length: 30 }, (_, i) => ({ payload: i, id: `u${i}` }));
        await rig.queue({ transport: instance() }).enqueueMany(more);
        for (const at of [1, 2]) await rig.command("LPUSH", `sluice:{${QUEUE}/${at}}:pending`, "lost");
      }
      return rig.transport.send(commands, options);
    },
  };
  const found: unknown[] = [];
  const failed: unknown[] = [];
  let cursor: string | undefined;
  do {
    const report = await deepSweep(transport, { queue: QUEUE, budget: 0, cursor, now });
    found.push(...report.faults.map(({ partition = 0, fault, count }) => ({ partition, fault, count })));
    failed.push(...report.failed);
    cursor = report.cursor ?? undefined;
  } while (cursor !== undefined);
  const faults = [0, 1, 2].map((partition) => ({ partition, fault: "payload_missing", count: 1 }));
  expect({ failed, found }).toEqual({ failed: [], found: faults });
});

test("a marker of a newer release fails a deep sweep of its queue alone", async () => {
  await new Queue("other", { transport: rig.transport, now }).enqueue(1);
  await rig.queue().enqueue(1);
  await rig.command("SET", `sluice:{${QUEUE}}:tasks`, "2;4");
  expect(await deepSweep(rig.transport, { now })).toMatchObject({
    queues: 1,
    failed: [{ queue: QUEUE, code: "redis_error" }],
  });
  await rig.command("FLUSHALL");
});
