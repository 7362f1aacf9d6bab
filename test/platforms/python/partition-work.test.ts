import { expect, test } from "vitest";
import { slotOf } from "../../../src/queue/core/partition-slots.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { numbered } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { useBothClients } from "./both-clients.ts";

const rig = useRig();
const both = useBothClients(rig);

test("receipts of a partition settle it in either client", async () => {
  await both.resize(4);
  const queue = both.queueOf(4);
  await queue.enqueueMany(numbered(20));
  // Partitions 0 to 3 have some each.
  const [states, receipts] = await both.python(`
    tasks = [task for _ in range(8) for task in queue.dequeue(max=4)]
    before = [task.deadline_at for task in tasks]
    extended = queue.settle([Settlement(task.receipt, "extend", 600_000) for task in tasks])
    assert all(a.ok and a.state == "working" and a.at > b for a, b in zip(extended, before))
    settled = queue.settle([
        *(Settlement(task.receipt, "complete") for task in tasks[:8]),
        *(Settlement(task.receipt, "requeue", 0) for task in tasks[8:12]),
        Settlement(tasks[0].receipt, "reject"),
    ])
    report([[one.state for one in settled], [task.receipt for task in tasks[12:]]])
  `);
  const [completed, pending] = [Array<string>(8).fill("completed"), Array<string>(4).fill("pending")];
  expect(states).toEqual([...completed, ...pending, "lost"]);
  const complete = (receipt: string) => ({ receipt, outcome: "complete" as const });
  const settled = await queue.settle((receipts as string[]).map(complete));
  expect(settled.map(({ ok }) => ok)).toEqual(Array<boolean>(8).fill(true));
  const [task] = await queue.dequeue();
  const state = await both.python(`queue.settle([Settlement("${task?.receipt}", "complete")])[0].state`);
  expect(state).toBe("completed");
  expect(await queue.counts()).toMatchObject({ pending: 3, working: 0 });
});

// resize.test.ts asks former partitions about dedup keys, too.
test("a former partition is drained, and asked about ids", async () => {
  await both.resize(4);
  const tasks = `[{"payload": 1, "id": f"t{i}"} for i in range(30)]`;
  const done = await both.python(`
    queue.enqueue_many([*${tasks}, {"payload": 1, "id": "ended"}])
    report([task.complete().state for _ in range(4) for task in queue.dequeue(max=50) if task.id == "ended"])
  `);
  expect(done).toEqual(["completed"]);
  await both.resize(2);
  expect((await fetchMap(both.place)).former).toEqual([2, 3]);
  const [again, lives, found] = await both.python(`
    again = queue.enqueue_many(${tasks})
    lives = [queue.enqueue(3, id="ended")[1], queue.enqueue(3, id="ended", again=True)[1], bool(queue.get("ended"))]
    report([again, lives, [queue.get(f"t{i}") is not None for i in range(8)]])
  `);
  expect(again).toEqual(numbered(30).map(({ id }) => [id, false]));
  expect([lives, found]).toEqual([[false, true, true], Array<boolean>(8).fill(true)]);
  // The leases of the first process are still held.
  expect(await both.python("[task.id for _ in range(2) for task in queue.dequeue(max=9)]")).toEqual([
    "ended",
  ]);
});

const IDLE = 130_000;

test("an idle queue is polled for one look at the registry, and partitions with work are found", async () => {
  await both.resize(4);
  const { owners } = await fetchMap(both.place);
  const names = [0, 1, 2, 3].map((partition) => `${QUEUE}/${partition}`);
  const queue = both.queueOf(4);
  await queue.enqueueMany(Array.from({ length: 40 }, (_, i) => ({ payload: 1, id: `t-${i}` })));
  for (let i = 0; i < 20; i++) {
    const tasks = await queue.dequeue({ max: 10 });
    await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
  }
  // Notes that are old enough.
  for (const name of names) await rig.command("ZADD", "sluice:queues", String(Date.now() - IDLE), name);
  const counting = `
    queue = Queue(redis, "${QUEUE}")
    post, sent = redis._post, []
    redis._post = lambda commands: (commands[0][0] == "EVAL" or sent.append(len(commands))) and None or post(commands)
  `;
  const [requests, scores] = await both.python(`${counting}
    assert queue.dequeue() == []
    report([sent[:], [float(score) for score in redis.command("ZMSCORE", "sluice:queues", *${JSON.stringify(names)})]])
  `);
  // A dequeue that finds a marker; the marker and the map; a dequeue, a look at a second partition and one at the
  // registry; looks at the other two; their notes.
  expect(requests).toEqual([1, 2, 3, 2, 1]);
  expect(scores.map(Math.sign)).toEqual([-1, -1, -1, -1]);

  const id = Array.from({ length: 300 }, (_, i) => `late-${i}`).find(
    (name) => owners[slotOf(name)] === 3,
  ) as string;
  const [polls, found] = await both.python(`${counting}
    assert queue.dequeue() == []
    sent.clear()
    for _ in range(3): assert queue.dequeue() == []
    polls = sum(sent)
    Queue(redis, "${QUEUE}").enqueue(1, id="${id}")
    report([polls, [task.id for task in queue.dequeue()]])
  `);
  // Each poll reads the registry.
  expect(polls).toBe(3);
  expect(found).toEqual([id]);
});

test("Python's sweep adds up the partitions of a queue, and leaves out those that are idle", async () => {
  await both.resize(4);
  await both.python(`
    queue.enqueue_many([{"payload": 1, "id": f"t-{i}", "delay": 1} for i in range(20)])
    time.sleep(0.01)
  `);
  expect(await both.python("sweep(redis)")).toEqual({ [QUEUE]: [20, 0, 0, 0] });
  for (const partition of [1, 2, 3]) {
    await rig.command("ZADD", "sluice:queues", String(-Date.now()), `${QUEUE}/${partition}`);
  }
  both.gateway.resetUsage();
  expect(await both.python("sweep(redis)")).toEqual({ [QUEUE]: [0, 0, 0, 0] });
  expect(both.gateway.usage().requests).toBe(2);
  for (const partition of [1, 2, 3]) {
    await rig.command("ZADD", "sluice:queues", String(Date.now()), `${QUEUE}/${partition}`);
  }
});
