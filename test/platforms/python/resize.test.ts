import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Queue } from "../../../src/index.ts";
import { readReceipt } from "../../../src/queue/core/receipt.ts";
import { owning } from "../../../src/queue/partitions/map.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { useBothClients } from "./both-clients.ts";

const rig = useRig();
const both = useBothClients(rig);

/** Rounds of each producer, and those after which the number of partitions changes. */
const ROUNDS = 60;
const [TO_FOUR, TO_TWO] = [12, 35];

/** A task that a producer sends. Two of a round are also sent by the other producer, and again 25 rounds later. */
interface Sent {
  readonly id?: string;
  readonly group?: string;
  readonly key?: string;
  /** The producer, its round, and the place there. */
  readonly payload: readonly [string, number, number];
}

function tasksOf(producer: string, round: number): Sent[] {
  const others = [round, round - 25].filter((one) => one >= 0);
  const tasks = [
    ...others.flatMap((one) => [
      { id: `id-${one}` },
      { id: `id-${one}{g-${one % 3}}`, group: `g-${one % 3}` },
    ]),
    ...others.map((one) => ({ key: `k-${one}` })),
    { group: `g-${round % 3}` },
    { group: `g-${round % 3}` },
    { id: `${producer}-${round}` },
    {},
  ];
  return tasks.map((task, i) => ({ ...task, payload: [producer, round, i] }));
}

/** What an enqueue has answered: the round, the place in it, the id, and whether it was created. */
type Answer = readonly [round: number, place: number, id: string, created: boolean];
type Done = readonly [receipt: string, attempt: number, group: string, payload: Sent["payload"]];
interface Log {
  readonly answers: Answer[];
  readonly done: Done[];
}

const IN_PYTHON = `
  import threading
  answers, done = [], []
  rounds = ${JSON.stringify(Array.from({ length: ROUNDS }, (_, i) => tasksOf("python", i)))}

  def consume():
      queue = new_queue()
      while True:
          tasks = queue.dequeue(max=10)
          if not tasks:
              if redis.command("GET", "stop"): return
              time.sleep(0.02)
          for task, settled in zip(tasks, queue.settle([Settlement(task.receipt, "complete") for task in tasks]) if tasks else []):
              assert settled.ok, settled
              done.append([task.receipt, task.attempt, task.group, task.payload])

  def produce():
      queue = new_queue()
      for number, tasks in enumerate(rounds):
          for task in tasks:
              if "key" in task: task["dedup"] = (task.pop("key"), 3_600_000)
          for place, (id, created) in enumerate(queue.enqueue_many(tasks)):
              answers.append([number, place, id, created])
          redis.command("SET", "rounds", str(number))
          time.sleep(0.01)

  threads = [threading.Thread(target=consume), threading.Thread(target=produce)]
  for thread in threads: thread.start()
  for thread in threads: thread.join()
  report({"answers": answers, "done": done})
`;

test("both clients work on a queue that gets 4 partitions, then 2: each task once, groups in order", async () => {
  const log: Log = { answers: [], done: [] };
  let round = 0;
  const { transport } = both.place;
  const pythonRound = async () => Number((await rig.command("GET", "rounds")) ?? 0);

  const produce = async () => {
    const queue = new Queue(QUEUE, { transport });
    for (; round < ROUNDS; round++) {
      const added = await queue.enqueueMany(
        tasksOf("typescript", round).map(({ key, ...task }) => ({
          ...task,
          dedup: key === undefined ? key : { key, window: "1h" },
        })),
      );
      for (const [place, { id, created }] of added.entries()) log.answers.push([round, place, id, created]);
      // The producers go side by side.
      while (round > (await pythonRound()) + 3) await sleep(5);
    }
  };
  const consume = async () => {
    const queue = both.queueOf("stored");
    for (;;) {
      const tasks = await queue.dequeue({ max: 10 });
      if (tasks.length === 0) {
        if (await rig.command("GET", "stop")) return;
        await sleep(20);
      }
      const settled = await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
      expect(settled.every(({ ok }) => ok)).toBe(true);
      for (const { receipt, attempt, group = "", payload } of tasks)
        log.done.push([receipt, attempt, group, payload as Sent["payload"]]);
    }
  };
  const after = async (wanted: number) => {
    while (Math.min(round, await pythonRound()) < wanted) await sleep(5);
  };
  const changeAndStop = async () => {
    await after(TO_FOUR);
    await both.resize(4);
    expect(owning(await fetchMap(both.place))).toEqual([0, 1, 2, 3]);
    await after(TO_TWO);
    await both.resize(2);
    await after(ROUNDS - 1);
    const queue = both.queueOf("stored");
    for (let left = 1; left > 0; await sleep(20)) {
      const { pending, working } = await queue.counts();
      left = pending + working + (round < ROUNDS ? 1 : 0);
    }
    await rig.command("SET", "stop", "1");
  };
  const inPython = both.python(IN_PYTHON) as Promise<Log>;
  const [python] = await Promise.all([inPython, produce(), consume(), changeAndStop()]);
  await rig.command("DEL", "stop", "rounds");

  const answers = [...log.answers, ...python.answers];
  const created = answers.filter(([, , , isNew]) => isNew).map(([, , id]) => id);
  const done = [...log.done, ...python.done];
  const leases = done.map(([receipt]) => readReceipt(receipt, "receipt"));
  expect(leases.map(({ id }) => id).toSorted()).toEqual(created.toSorted());
  expect(new Set(created).size).toBe(created.length);
  expect(done.filter(([, attempt]) => attempt !== 1)).toEqual([]);
  expect(new Set(leases.map(({ partition }) => partition))).toEqual(new Set([0, 1, 2, 3]));

  // Each shared id and dedup key has one task, regardless of which producer asks for it and when.
  const ids = new Map<string, Set<string>>();
  for (const [number, place, id] of answers) {
    const { key, id: wanted } = tasksOf("own", number)[place] as Sent;
    const shared = key ?? wanted ?? "own";
    if (!shared.startsWith("own")) ids.set(shared, (ids.get(shared) ?? new Set()).add(id));
  }
  expect(ids.size).toBe(3 * ROUNDS);
  expect([...ids].filter(([, { size }]) => size !== 1)).toEqual([]);

  // Lease numbers of a partition rise, so they say in which order its tasks were taken.
  const inOrder = done
    .map(([, , group, [producer, number, place]], i) => {
      const { lease, partition } = leases[i] as (typeof leases)[number];
      return { line: `${partition} ${group} ${producer}`, lease, at: number * 100 + place };
    })
    .filter(({ line }) => line.includes(" g-"))
    .toSorted((one, other) => one.lease - other.lease);
  const last = new Map<string, number>();
  const tooLate = inOrder.filter(({ line, at }) => {
    const before = last.get(line) ?? -1;
    last.set(line, at);
    return at < before;
  });
  expect(tooLate).toEqual([]);
  const map = await fetchMap(both.place);
  expect([owning(map), map.next]).toEqual([[0, 1], undefined]);
});
