import { expect, test } from "vitest";
import { applyQueues, defineQueue, type QueueDeclaration, type Transport } from "../../../src/index.ts";
import { SLOTS } from "../../../src/kernel/names/slots.ts";
import { owning } from "../../../src/features/partitions/map.ts";
import type { Command, CommandOutcome } from "../../../src/kernel/transport.ts";
import { instances } from "../../support/instances.ts";
import { numbered } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });
const { now, instance, queueOf, map, resize, slotsIn, fieldsOf, textIn, sweepAll, drainAll } = instances(rig);

test.each([false, true])(
  "no slot has two owners, in whichever order the commands of a change run; the last one first: %s",
  async (lastFirst) => {
    await resize(4);
    const owned = async () => (await Promise.all([0, 1, 2, 3].map(slotsIn))).flat();
    const transport: Transport = {
      async send(commands, options) {
        const outcomes: CommandOutcome[] = [];
        const numbers = commands.map((_, i) => i);
        for (const i of lastFirst ? numbers.toReversed() : numbers) {
          const [outcome] = await rig.transport.send([commands[i] as Command], options);
          outcomes[i] = outcome as CommandOutcome;
          const slots = await owned();
          expect(new Set(slots).size).toBe(slots.length);
        }
        return outcomes;
      },
    };
    for (const count of [2, 3, 1, 4]) {
      await resize(count, transport);
      expect(new Set(await owned()).size).toBe(SLOTS);
    }
  },
);

test("sweeps search a partition that keeps some of its slots, until it knows nothing of others", async () => {
  await resize(2);
  const producer = queueOf(2);
  const keys = Array.from({ length: 30 }, (_, i) => `key-${i}`);
  await producer.enqueueMany(keys.map((key) => ({ payload: 1, dedup: { key, window: "3h" } })));
  await producer.enqueueMany(numbered(300));
  await resize(4);
  expect((await map()).former).toEqual([0, 1]);
  const passes = async (minutes: number) => {
    for (let i = 0; i < minutes; i += 15) {
      rig.now += 900_000;
      await sweepAll();
    }
  };
  await passes(120);
  expect((await map()).former).toEqual([0, 1]);
  await drainAll(queueOf(4));
  await passes(45);
  // The dedup keys are still in use.
  expect((await map()).former).toEqual([0, 1]);
  await passes(120);
  expect((await map()).former).toEqual([]);
  expect(await rig.command("HKEYS", "{sluice:queues}:maps")).toEqual([QUEUE]);
  expect(await queueOf(4).enqueue(1, { id: "t3" })).toEqual({ id: "t3", created: true });
});

test("an enqueue with a dedup key costs one request if the only former partition still owns its slot", async () => {
  await queueOf().enqueue(1, { id: "first" });
  await resize(4);
  expect((await map()).former).toEqual([0]);
  let requests = 0;
  const producer = queueOf(
    4,
    instance(() => requests++),
  );
  await producer.counts();
  requests = 0;
  await producer.enqueue(1, { dedup: { key: await textIn(0), window: "1m" } });
  expect(requests).toBe(1);
});

test("a deployment gives a declared queue the number of partitions that it declares", async () => {
  const apply = (declaration: QueueDeclaration) =>
    applyQueues(rig.transport, [defineQueue(QUEUE, declaration)], { now });
  expect((await apply({ partitions: 4, statistics: true })).applied).toEqual([QUEUE]);
  expect(owning(await map())).toEqual([0, 1, 2, 3]);
  expect((await apply({ partitions: 4, statistics: true })).applied).toEqual([]);
  await apply({ partitions: 2, statistics: true });
  expect(owning(await map())).toEqual([0, 1]);
  await apply({ statistics: true });
  expect(owning(await map())).toEqual([0]);
  // The new ones get the settings too.
  await apply({ partitions: 5, events: true });
  expect(await fieldsOf("~set", 5)).toEqual(Array(5).fill("1;e=1"));
  expect(() => defineQueue(QUEUE, { partitions: 63 })).toThrow(
    "partitions must be a whole number from 1 to 62",
  );
});
