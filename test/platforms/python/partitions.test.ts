import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { slotOf, tagOf } from "../../../src/queue/core/partition-slots.ts";
import { slotOfTask } from "../../../src/queue/partitions/placement.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { useBothClients } from "./both-clients.ts";

const rig = useRig();
const both = useBothClients(rig);

/** What Python's enqueue_many answers, of at least three tasks. */
type Added = readonly [Created, Created, Created, ...Created[]];
type Created = readonly [id: string, isNew: boolean];

test("both clients compute the same slots and tags", async () => {
  const texts =
    "123456789 a order-17 order-17{customer-5} customer-5 a{b a}b{c} a{}b{c} a{b}{c} x{{y}z} {a} A{!} a;b%";
  const names = [...texts.split(" "), "0".repeat(128), ...Array.from({ length: 300 }, (_, i) => `task-${i}`)];
  const slots = Array.from({ length: 256 }, (_, slot) => slot);
  expect(
    await both.python(`
      from partitions import slot_of, tag_of
      report([[slot_of(name) for name in ${JSON.stringify(names)}], [tag_of(slot) for slot in range(256)]])
    `),
  ).toEqual([names.map(slotOf), slots.map(tagOf)]);
});

test("both clients place the same tasks in the same slots, and refuse the same ones", async () => {
  const tasks = [
    { id: "a" },
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
      return slotOfTask({ id, group, dedup: key === undefined ? key : { key, window: 1 } }, "") ?? null;
    } catch (error) {
      return (error as { code: string }).code.replace("invalid", "bad");
    }
  });
  const inPython = await both.python(`
    from partitions import slot_of_task
    def placed(task):
        if "dedup" in task: task["dedup"] = (task["dedup"], 1)
        try: return slot_of_task(**task)
        except SluiceError as error: return error.code
    report([placed(task) for task in ${JSON.stringify(tasks)}])
  `);
  expect(inPython).toEqual(inTypeScript);
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

/** Makes Python write down the first words of each request, except those that load a script. */
const noting = `
    post, sent = redis._post, []
    def noted(commands):
        if commands[0][0] != "EVAL": sent.append(" ".join(command[0] for command in commands))
        return post(commands)
    redis._post = noted
`;

test("an enqueue that does not know of partitions learns of them, and is sent again with the same ids", async () => {
  await both.python(`queue.enqueue(1, id="from-before")`);
  await both.resize(4);
  const [ids, sent, before] = await both.python(`${noting}
    ids = queue.enqueue_many([{"payload": 1}, {"payload": 2, "group": "g"}, {"payload": 3, "id": "from-before"}, {"payload": 4, "id": "new"}])
    report([ids, sent, Queue(redis, "${QUEUE}").enqueue(5, id="from-before")])
  `);
  // The third asks the former partition.
  expect(sent.slice(0, 3)).toEqual(["EVALSHA EVALSHA", "GET HGET", "EVALSHA"]);
  const [[plain], [grouped]] = ids as Added;
  expect((ids as Added).map(([, isNew]) => isNew)).toEqual([true, true, false, true]);
  for (const id of [plain, grouped]) expect(id).toMatch(/^[0-9A-Za-z]{20}$/);
  expect(before).toEqual(["from-before", false]);
  const { owners } = await fetchMap(both.place);
  expect(Object.fromEntries(await both.partitionsOfIds())).toEqual({
    "from-before": 0,
    [plain]: 0,
    [grouped]: owners[slotOf("g")],
    new: owners[slotOf("new")],
  });
});

test("a late copy of an enqueue that did not know of partitions adds nothing", async () => {
  const [commands, added] = await both.python(`
    from rest import Unanswered
    queue.enqueue(0, id="first")
    post, copies = redis._post, []
    def lost(commands):
        copies.append(commands)
        redis._post = post
        raise Unanswered("no_answer", "lost")
    redis._post = lost
    added = queue.enqueue_many([{"payload": 1, "id": "a"}, {"payload": 2, "group": "g"}, {"payload": 3}])
    report([copies[0], len(added)])
  `);
  expect([commands.at(-1)[0], added]).toEqual(["EVALSHA", 3]);
  await both.resize(4);
  const before = await rig.keySpace();
  const errors = await both.python(
    `[answer.get("error", "none").split(" ")[0] for answer in redis._post(${JSON.stringify(commands)})]`,
  );
  expect(errors).toEqual(["WRONGTYPE"]);
  expect(await rig.keySpace()).toEqual(before);
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
  const sent = await both.python(`${noting}
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

test("a slot that changes hands between two copies of a request gets its task once", async () => {
  await both.resize(4);
  const [id, isNew] = await both.python(`
    from partitions import Partitions
    from rest import Unanswered
    queue = Queue(redis, "${QUEUE}")
    queue._partitions.learn()
    post = redis._post

    def lossy(commands):
        post(commands)
        redis._post = post
        other = Partitions(new_queue()._redis, "${QUEUE}")
        other.learn()
        map = other.map()
        following = map.owners.translate(str.maketrans("0123", "1230"))
        other._complete(other._put(map, map._replace(version=map.version + 1, next=following)))
        raise Unanswered("no_answer", "lost")

    # The scripts are known to Redis then.
    queue.enqueue(0, id="first")
    redis._post = lossy
    report(queue.enqueue(1, group="g"))
  `);
  const places = await both.partitionsOfIds();
  const { owners } = await fetchMap(both.place);
  expect([isNew, new Set(places.keys())]).toEqual([true, new Set(["first", id])]);
  expect(places.get(id)).toBe(((owners[slotOf("g")] as number) + 3) % 4);
});
