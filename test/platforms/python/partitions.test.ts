import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { slotOf, tagOf } from "../../../src/kernel/names/slots.ts";
import { fetchMap } from "../../../src/features/partitions/map-calls.ts";
import { slotOfTask } from "../../../src/features/partitions/placement.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { useBothClients } from "./both-clients.ts";

const rig = useRig();
const both = useBothClients(rig);

const idsTo = (count: number) => Array.from({ length: count }, (_, i) => `t-${i}`);

test("both clients place the same tasks in the same slots, and refuse the same ones", async () => {
  const texts =
    "123456789 a order-17 order-17{customer-5} customer-5 a{b a}b{c} a{}b{c} a{b}{c} x{{y}z} {a} A{!} a;b%";
  const tasks: { id?: string; group?: string; dedup?: string }[] = [
    ...[...texts.split(" "), "0".repeat(128), ...idsTo(300)].map((id) => ({ id })),
    { group: "g" },
    { dedup: "k" },
    {},
    { id: "a", group: "g" },
    { id: "a{g}", group: "g" },
    { group: "g", dedup: "k" },
    { id: "a", dedup: "k{a}" },
    { id: "a{k}", group: "g", dedup: "k" },
    { id: "a{g}", group: "g", dedup: "k" },
    { id: "a", dedup: "k" },
  ];
  const inTypeScript = tasks.map(({ id, group, dedup: key }) => {
    try {
      return slotOfTask({ id, group, dedup: key === undefined ? key : { key } }, "") ?? null;
    } catch (error) {
      return (error as { code: string }).code.replace("invalid", "bad");
    }
  });
  const inPython = await both.python(`
    from partitions import slot_of_task, tag_of
    def placed(task):
        if "dedup" in task: task["dedup"] = (task["dedup"], 1)
        try: return slot_of_task(**task)
        except SluiceError as error: return error.code
    report([[placed(task) for task in ${JSON.stringify(tasks)}], [tag_of(slot) for slot in range(256)]])
  `);
  expect(inPython).toEqual([inTypeScript, Array.from({ length: 256 }, (_, slot) => tagOf(slot))]);
});

test("tasks without a slot of one process go to all partitions, a hundred after the other", async () => {
  await both.resize(4);
  await both.python(`
    from unittest.mock import patch
    # From now on it knows of the partitions.
    queue.get("none")
    # Each ten minutes the first one is another.
    with patch("time.time", lambda: 1e9):
        for _ in range(8): queue.enqueue_many([{"payload": i} for i in range(50)])
  `);
  const counts = [0, 0, 0, 0];
  for (const partition of (await both.partitionsOfIds()).values())
    counts[partition] = (counts[partition] ?? 0) + 1;
  expect(counts).toEqual([100, 100, 100, 100]);
});

test("a copy of an enqueue, whose answer was lost before the queue got partitions, adds nothing again", async () => {
  const python = both.python(`
    from rest import Unanswered
    post = redis._post
    def lossy(commands):
        post(commands)
        redis._post = post
        redis.command("SET", "added", "1")
        while not redis.command("GET", "resized"): time.sleep(0.01)
        raise Unanswered("no_answer", "lost")
    queue.enqueue(0, id="first")
    redis._post = lossy
    report(queue.enqueue_many([{"payload": i, "group": f"g-{i}"} for i in range(20)]))
  `) as Promise<[string, boolean][]>;
  while (!(await rig.command("GET", "added"))) await sleep(10);
  await both.resize(4);
  await rig.command("SET", "resized", "1");
  const added = await python;
  expect(added.map(([, isNew]) => isNew)).toEqual(Array<boolean>(20).fill(true));
  const places = await both.partitionsOfIds();
  expect([...places.keys()].toSorted()).toEqual(["first", ...added.map(([id]) => id)].toSorted());
  expect(new Set(places.values())).toEqual(new Set([0]));
  await rig.command("DEL", "added", "resized");
});

test("Python's sweep gives partition 0 what the registry still has of its queue", async () => {
  await both.python(`queue.enqueue(1, id="a")`);
  await both.resize(2);
  // A client that did not know of the partitions.
  await rig.command("ZADD", "sluice:queues", String(Date.now()), QUEUE, "1", `~${QUEUE}`);
  await both.python("sweep(redis)");
  const names = [QUEUE, `~${QUEUE}`, `~${QUEUE}/0`, `${QUEUE}/0`];
  const scores = await rig.command("ZMSCORE", "sluice:queues", ...names);
  expect(scores).toEqual([null, null, "1", expect.any(String)]);
  await rig.command("ZREM", "sluice:queues", `~${QUEUE}/0`);
});

test("a queue without partitions gets no command for them", async () => {
  const sent = await both.python(`
    post, sent = redis._post, []
    def noted(commands):
        if commands[0][0] != "EVAL": sent.append(" ".join(command[0] for command in commands))
        return post(commands)
    redis._post = noted
    queue.enqueue(1, id="a", group="g")
    queue.enqueue(1)
    [task] = queue.dequeue()
    task.requeue()
    queue.get("a"), queue.get("b"), queue.cancel("a"), queue.dequeue(max=5), queue.dequeue()
    report(sent)
  `);
  expect(sent).toEqual(["EVALSHA EVALSHA", ...Array<string>(8).fill("EVALSHA")]);
  expect(await rig.command("KEYS", "*maps")).toEqual([]);
});

const IDLE = 130_000;

test("an idle queue is polled for one look at the registry, and partitions with work are found", async () => {
  await both.resize(4);
  const { owners } = await fetchMap(both.place);
  const names = [0, 1, 2, 3].map((partition) => `${QUEUE}/${partition}`);
  const queue = both.queueOf(4);
  await queue.enqueueMany(idsTo(40).map((id) => ({ payload: 1, id })));
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
