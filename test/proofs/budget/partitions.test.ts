import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Operator, Queue, Schedules, sweep, type Batch, type EnqueueOptions } from "../../../src/index.ts";
import { slotOf } from "../../../src/kernel/names/slots.ts";
import { fetchMap } from "../../../src/features/partitions/map-calls.ts";
import { useBilled } from "../../support/billed.ts";
import { many } from "../../support/new-tasks.ts";

// What a queue with four partitions costs, for docs/partitions.md: commands as Upstash bills them, and requests.
// Exact, as in commands.test.ts. The clock of this process is stopped, so that what it remembers for a quarter
// of a second or a minute does not depend on how fast the tests run.

const PARTITIONS = [0, 1, 2, 3];
/** Where the dequeues of a new consumer begin: it chooses at random. */
const BEGIN = { first: 0, second: 0.3 };

/** A dequeue of one task, and of none. */
const DEQUEUE = 6;
const NOTHING = 5;
/** A look at a partition with ready tasks, and at one without. */
const LOOK = 4;
const EMPTY_LOOK = 5;
/** Reading which partitions are in use, and recording some as idle. */
const REGISTRY = 3;
const RECORD_IDLE = 3;

const billed = useBilled();

let queue: Queue;
/** Different ids, groups or dedup keys whose slots a partition owns. */
let owned: (partition: number, place?: number) => string;
/** Another consumer, which knows the map and no more. */
const consumer = () => new Queue(queue.name, { transport: billed.transport, partitions: 4 });

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  queue = new Queue(`${billed.queue.name}-spread`, { transport: billed.transport, partitions: 4 });
  await queue.enqueue(0, { resultTtl: 0 });
  const { owners } = await fetchMap({ name: queue.name, prefix: undefined, transport: billed.transport });
  owned = (partition, place = 0) => {
    const texts = Array.from({ length: 1_000 }, (_, i) => `t${i}`);
    return texts.filter((text) => owners[slotOf(text)] === partition)[place] as string;
  };
  // The registry then has each partition.
  for (const partition of PARTITIONS) await queue.enqueue(0, { id: owned(partition), resultTtl: 0 });
  await drain(queue);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function drain(from: Queue) {
  for (;;) {
    const tasks = await from.dequeue({ max: 100 });
    if (tasks.length === 0) return;
    await from.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
  }
}

const begin = (at: number) => vi.spyOn(Math, "random").mockReturnValue(at);
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

/** Commands and requests. */
async function usage(run: () => Promise<unknown>): Promise<[commands: number, requests: number]> {
  const commands = await billed.cost(run);
  return [commands, billed.gateway.usage().requests];
}

/** Tasks in some partitions, those of the first one first. */
async function fill(partitions: readonly number[], each: number) {
  for (const partition of partitions) {
    const ids = Array.from({ length: each }, (_, i) => `${i}{${owned(partition)}}`);
    await queue.enqueueMany(ids.map((id) => ({ payload: partition, id, resultTtl: 0 })));
    pass(10);
  }
}

/** Lets all partitions look unused for three minutes. The next polls record them as idle. */
async function makeOld() {
  const names = PARTITIONS.map((i) => ({ score: Date.now() - 180_000, member: `${queue.name}/${i}` }));
  const [first = { score: 0, member: "" }, ...others] = names;
  await billed.client.zadd("sluice:queues", first, ...others);
}

let sweeps = 0;

/** A sweep that finds one schedule due, whose task may have a group. */
async function sweepOne(name: string, group: string | undefined) {
  const schedules = new Schedules(name, { transport: billed.transport });
  // Each call has another occurrence.
  const score = Date.now() - 1_000_000 + sweeps++;
  await schedules.put("s", { every: "1d", payload: 1, group });
  // The queue's own keys hold markers if it has partitions.
  const first = (await billed.client.type(`sluice:{${name}}:tasks`)) === "string" ? "/0" : "";
  await billed.client.zadd(`sluice:{${name}}${first}:schedules`, { xx: true }, { score, member: "s" });
  await billed.client.zadd("sluice:queues", { xx: true }, { score: 1, member: `~${name}${first}` });
  return usage(() => sweep(billed.transport, { queues: (other) => other === name }));
}

describe("an enqueue", () => {
  test("costs as much as without partitions, and with an id one command more; one request", async () => {
    const prices = async (to: Queue, named: (partition: number) => string) => {
      const one = (options: EnqueueOptions) => usage(() => to.enqueue(1, options));
      return {
        plain: await one({}),
        delayed: await one({ delay: "1h" }),
        id: await one({ id: named(1) }),
        again: await one({ id: named(1), again: true }),
        group: await one({ group: named(2) }),
        idAndGroup: await one({ id: `x{${named(2)}}`, group: named(2) }),
        dedup: await one({ dedup: { key: named(3), window: "1m" } }),
        many: await usage(() => to.enqueueMany(many(100))),
      };
    };
    const without = await prices(billed.queue, (partition) => `t${partition}`);
    expect(without).toMatchObject({ plain: [4, 1], id: [4, 1], group: [7, 1], many: [5, 1] });
    const costs = await prices(queue, (partition) => owned(partition, 1));
    expect(costs).toEqual({ ...without, id: [5, 1] });
  });

  test("of a hundred tasks costs 5 for each partition to which their ids or groups belong; one request", async () => {
    const hundred = (id: (i: number) => string) =>
      usage(() => queue.enqueueMany(many(100).map((task, i) => ({ ...task, id: id(i) }))));
    expect(await hundred((i) => `x${i}`)).toEqual([4 * 5, 1]);
    expect(await hundred((i) => `x${i}{${owned(1)}}`)).toEqual([5, 1]);
  });

  test("after a minute costs 1 for the map, in a request of its own, and 4 for each partition", async () => {
    const another = consumer();
    pass(61_000);
    expect(await usage(() => another.enqueue(1))).toEqual([4 + 1 + 4, 2]);
    expect(await usage(() => another.enqueue(1))).toEqual([4, 1]);
    const { owners } = await fetchMap({ name: queue.name, prefix: undefined, transport: billed.transport });
    expect(new Set(owners)).toEqual(new Set(PARTITIONS));
  });
});

describe("a dequeue", () => {
  test("costs 4 more to look at a second partition and 3 for the registry, then as much as without", async () => {
    await fill(PARTITIONS, 5);
    begin(BEGIN.first);
    const one = consumer();
    expect(await usage(() => one.dequeue())).toEqual([DEQUEUE + LOOK + REGISTRY, 1]);
    // It begins with a partition of which it knows nothing, and looks at the last one.
    expect(await usage(() => one.dequeue())).toEqual([DEQUEUE + LOOK, 1]);
    for (let i = 0; i < 2; i++) expect(await usage(() => one.dequeue())).toEqual([DEQUEUE, 1]);
    // A quarter of a second later it looks at another one again.
    pass(300);
    expect(await usage(() => one.dequeue())).toEqual([DEQUEUE + LOOK, 1]);
  });

  test("of an empty partition looks at all that are in use, for 4 or 5 each, in a second request", async () => {
    await fill([3], 2);
    begin(BEGIN.first);
    const one = consumer();
    const costs = await usage(async () => expect(await one.dequeue()).toHaveLength(1));
    const first = NOTHING + EMPTY_LOOK + REGISTRY;
    expect(costs).toEqual([first + EMPTY_LOOK + LOOK + DEQUEUE, 3]);
    expect(await usage(() => one.dequeue())).toEqual([DEQUEUE, 1]);
  });

  test("that finds nothing costs 5 for each partition in use, and 3 for the registry", async () => {
    begin(BEGIN.first);
    const one = consumer();
    const all = NOTHING + 3 * EMPTY_LOOK + REGISTRY;
    expect(await usage(() => one.dequeue())).toEqual([all, 2]);
    expect(await usage(() => one.dequeue())).toEqual([all, 2]);
    pass(1_500);
    expect(await usage(() => one.dequeue())).toEqual([all, 2]);
  });

  test("of an idle queue costs 3, also with 16 partitions; the first one of a consumer 13", async () => {
    begin(BEGIN.first);
    const one = consumer();
    await makeOld();
    const all = NOTHING + 3 * EMPTY_LOOK + REGISTRY;
    expect(await usage(() => one.dequeue())).toEqual([all + RECORD_IDLE, 3]);
    pass(1_500);
    expect(await usage(() => one.dequeue())).toEqual([REGISTRY, 1]);
    // What it read within the last second is not enough to say that there is nothing.
    expect(await usage(() => one.dequeue())).toEqual([REGISTRY, 1]);
    for (const place of [BEGIN.first, BEGIN.second]) {
      begin(place);
      expect(await usage(() => consumer().dequeue())).toEqual([NOTHING + EMPTY_LOOK + REGISTRY, 1]);
    }

    await new Operator(queue.name, { transport: billed.transport, partitions: 4 }).resize(16);
    const wide = new Queue(queue.name, { transport: billed.transport, partitions: 16 });
    await wide.dequeue();
    pass(1_500);
    expect(await usage(() => wide.dequeue())).toEqual([REGISTRY, 1]);
  });
});

describe("a settle", () => {
  test("costs 6 for each partition of its tasks, in one request", async () => {
    await fill(PARTITIONS, 2);
    begin(BEGIN.first);
    const tasks: Batch<unknown>[number][] = [];
    while (tasks.length < 8) tasks.push(...(await queue.dequeue({ max: 8 })));
    const settle = (some: typeof tasks) =>
      usage(() => queue.settle(some.map(({ receipt }) => ({ receipt, outcome: "complete" }))));
    const [first = [], ...others] = PARTITIONS.map((partition) =>
      tasks.filter(({ payload }) => payload === partition),
    );
    expect(await settle(first)).toEqual([6, 1]);
    expect(await settle(others.flat())).toEqual([3 * 6, 1]);
  });

  test("and dequeue in one call costs 8 if the next task is in the same partition, else 12; one request", async () => {
    await fill([0], 1);
    await fill([1], 5);
    begin(BEGIN.first);
    const [other] = await consumer().dequeue();
    const one = consumer();
    const [own] = await one.dequeue();
    expect([other?.payload, own?.payload]).toEqual([0, 1]);
    // It now learns that there are no tasks in the others.
    await one.dequeue();
    const next = (receipt = "") =>
      usage(() => one.settleAndDequeue([{ receipt, outcome: "complete" }], { max: 1 }));
    expect(await next(own?.receipt)).toEqual([8, 1]);
    expect(await next(other?.receipt)).toEqual([6 + DEQUEUE, 1]);
  });
});

describe("a sweep", () => {
  test("costs 3 more than without partitions, and 5 for each further one in use", async () => {
    const swept = () => usage(() => sweep(billed.transport, { queues: (name) => name === queue.name }));
    const one = 3 + 1 + 2;
    expect(await swept()).toEqual([one + 4 * 5, 4]);
    await fill(PARTITIONS, 2);
    expect(await swept()).toEqual([one + 4 * 5, 4]);
    await drain(queue);
    await makeOld();
    await consumer().dequeue();
    expect(await swept()).toEqual([one, 3]);
  });

  test("costs 3 and a request more for a due schedule, and 8 and two more if its task has a group", async () => {
    const plain = await sweepOne(billed.queue.name, undefined);
    const grouped = await sweepOne(billed.queue.name, "a");
    // The registry notes partition 0, which gets the task, or has the schedule.
    const base = 3 + 3 * 5 + 3;
    const [commands, requests] = [plain[0] + base, plain[1] + 3];
    expect(await sweepOne(queue.name, undefined)).toEqual([commands, requests]);
    expect(await sweepOne(queue.name, owned(2))).toEqual([grouped[0] + base + 8, requests + 2]);
  });
});

test("counts cost as much as those of each partition, 4 if it is empty, and 1 for the map; one request", async () => {
  expect(await usage(() => queue.counts())).toEqual([4 * 4 + 1, 1]);
  await fill([2], 5);
  expect(await usage(() => queue.counts())).toEqual([3 * 4 + 11 + 1, 1]);
  await fill([0, 1, 3], 5);
  expect(await usage(() => queue.counts())).toEqual([4 * 11 + 1, 1]);
});

test("a change by an operator costs as much as in each partition, and 2 commands and requests for the map", async () => {
  const paused = async (name: string, partitions?: number) => {
    const operator = new Operator(name, { transport: billed.transport, partitions });
    await operator.resume();
    return usage(() => operator.pause());
  };
  const [commands, requests] = await paused(billed.queue.name);
  expect(requests).toBe(1);
  expect(await paused(queue.name, 4)).toEqual([4 * commands + 2, 3]);
});
