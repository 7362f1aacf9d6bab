import { expect, test } from "vitest";
import { slotOf } from "../../../src/queue/core/partition-slots.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { useBothClients } from "./both-clients.ts";

const rig = useRig();
const both = useBothClients(rig);

test("receipts of a partition settle it in either client", async () => {
  await both.resize(4);
  const queue = both.queueOf(4);
  await queue.enqueueMany(Array.from({ length: 20 }, (_, i) => ({ payload: i, id: `t-${i}` })));
  // Partitions 0 to 3 have some each.
  const receipts: string[] = await both.python(`
    queue = Queue(redis, "${QUEUE}")
    tasks = [task for _ in range(8) for task in queue.dequeue(max=4)]
    before = [task.deadline_at for task in tasks]
    answers = queue.settle([Settlement(task.receipt, "extend", 600_000) for task in tasks])
    assert all(a.ok and a.state == "working" and a.at > b for a, b in zip(answers, before))
    late = queue.settle([
        *(Settlement(task.receipt, "complete") for task in tasks[:8]),
        *(Settlement(task.receipt, "requeue", 0) for task in tasks[8:12]),
        Settlement(tasks[0].receipt, "reject"),
    ])
    assert [a.state for a in late] == ["completed"] * 8 + ["pending"] * 4 + ["lost"], late
    report([task.receipt for task in tasks[12:]])
  `);
  expect(receipts).toHaveLength(8);
  const settled = await queue.settle(receipts.map((receipt) => ({ receipt, outcome: "complete" as const })));
  expect(settled.every(({ ok }) => ok)).toBe(true);
  const again = await queue.dequeue({ max: 1 });
  const [receipt] = again.map((task) => task.receipt);
  expect(await both.python(`report(queue.settle([Settlement("${receipt}", "complete")])[0].state)`)).toBe(
    "completed",
  );
  expect(await queue.counts()).toMatchObject({ pending: 3, working: 0 });
});

test("a former partition is drained, and asked about ids and dedup keys", async () => {
  await both.resize(1);
  await both.resize(4);
  const python = `queue = Queue(redis, "${QUEUE}")`;
  const tasks = (payload: number) => `[{"payload": ${payload}, "id": f"t-{i}"} for i in range(30)]`;
  const [done, keys] = await both.python(`
    ${python}
    queue.enqueue_many([*${tasks(1)}, {"payload": 1, "id": "ended"}])
    keys = [id for id, _ in queue.enqueue_many([{"payload": 1, "dedup": (f"k-{i}", 3_600_000)} for i in range(10)])]
    done = [task.complete().state for _ in range(4) for task in queue.dequeue(max=50) if task.id == "ended"]
    report([done, keys])
  `);
  await both.resize(2);
  expect((await fetchMap(both.place)).former).toEqual([2, 3]);
  const [again, owners, lives, found] = await both.python(`
    ${python}
    again = queue.enqueue_many(${tasks(2)})
    owners = [id for id, _ in queue.enqueue_many([{"payload": 2, "dedup": (f"k-{i}", 1)} for i in range(10)])]
    lives = [queue.enqueue(3, id="ended"), queue.enqueue(3, id="ended", again=True), queue.get("ended")["version"]]
    report([again, owners, lives, sum(queue.get(f"t-{i}") is not None for i in range(8))])
  `);
  expect(again).toEqual(Array.from({ length: 30 }, (_, i) => [`t-${i}`, false]));
  expect([done, owners]).toEqual([["completed"], keys]);
  expect(found).toBe(8);
  expect(lives).toEqual([["ended", false], ["ended", true], expect.any(Number)]);
  // The leases of the first process are still held.
  expect(
    await both.python(`${python}\nreport(len([t for _ in range(2) for t in queue.dequeue(max=9)]))`),
  ).toBe(1);
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
  expect(await both.python("report(sweep(redis))")).toEqual({ [QUEUE]: [20, 0, 0, 0] });
  for (const partition of [1, 2, 3]) {
    await rig.command("ZADD", "sluice:queues", String(-Date.now()), `${QUEUE}/${partition}`);
  }
  both.gateway.resetUsage();
  expect(await both.python("report(sweep(redis))")).toEqual({ [QUEUE]: [0, 0, 0, 0] });
  expect(both.gateway.usage().requests).toBe(2);
  for (const partition of [1, 2, 3]) {
    await rig.command("ZADD", "sluice:queues", String(Date.now()), `${QUEUE}/${partition}`);
  }
});

test("a fault of the network at any one request changes no answer of a client with partitions", async () => {
  await both.resize(4);
  await both.resize(3);
  const [answers, different] = await both.python(`
    stored = redis.command("HGET", redis.maps, "${QUEUE}")

    def begin(post):
        post([["FLUSHALL"], ["HSET", redis.maps, "${QUEUE}", stored], ["ZADD", "sluice:queues", "4", "/${QUEUE}"]])
        post([redis._command("EVAL", ("partitions/rename-keys", "${QUEUE}/0", [4]), "")])

    def day():
        queue, answers = Queue(redis, "${QUEUE}"), []
        answers.append(queue.enqueue("one", id="one", group="one"))
        answers.append(queue.enqueue_many([{"payload": i, "id": f"many{i}", "max_attempts": 1} for i in range(8)]))
        answers.append(queue.enqueue("plain")[1])
        tasks = sorted((task for _ in range(3) for task in queue.dequeue(max=10)), key=lambda task: str(task.payload))
        answers.append([(task.attempt, task.payload) for task in tasks])
        answers.append([a.state for a in queue.settle([
            *(Settlement(task.receipt, "complete") for task in tasks[:5]),
            *(Settlement(task.receipt, "requeue", 0) for task in tasks[5:8]),
            *(Settlement(task.receipt, "unstarted") for task in tasks[8:]),
        ])])
        answers.append(len([task for _ in range(2) for task in queue.dequeue(max=10)]))
        answers.append(queue.cancel("many0"))
        return answers

    report(disturbed(redis, begin, day, [{"kind": "lose-reply"}, {"kind": "duplicate", "answer": "second"}]))
  `);
  expect(different).toEqual([]);
  const many = Array.from({ length: 8 }, (_, i) => i);
  expect(answers).toEqual([
    ["one", true],
    many.map((i) => [`many${i}`, true]),
    true,
    [...many, "one", "plain"].map((payload) => [1, payload]),
    [...Array<string>(5).fill("completed"), ...Array<string>(3).fill("rejected"), "pending", "pending"],
    2,
    "already_ended",
  ]);
});
