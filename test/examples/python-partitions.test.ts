import { expect, test } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import { Operator } from "../../src/index.ts";
import { queueKeys } from "../../src/queue/core/keys.ts";
import { slotOf, tagOf } from "../../src/queue/core/partition-slots.ts";
import { owning, spread, UNPARTITIONED, writeMap } from "../../src/queue/partitions/map.ts";
import { renameKeys } from "../../src/queue/partitions/marker.ts";
import { slotOfTask } from "../../src/queue/partitions/placement.ts";
import { fetchMap, putMap, setOwned } from "../../src/queue/partitions/map-calls.ts";
import { QUEUE, useRig } from "../support/rig.ts";
import { useBothOnPartitions } from "./python-partitions.ts";
import { useBothClients } from "./python.ts";

const rig = useRig();
const both = useBothClients(rig);
const on = useBothOnPartitions(rig, both);

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
  const inTypeScript = tasks.map(({ id, group, dedup }) => {
    try {
      return (
        slotOfTask({ id, group, dedup: dedup === undefined ? undefined : { key: dedup, window: 1 } }, "") ??
        null
      );
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
  const slots = ["a", "g", "k", undefined, "a", "g", "k", "a", "k"].map((name) =>
    name ? slotOf(name) : null,
  );
  expect(inTypeScript).toEqual([...slots, "bad_argument", "bad_argument"]);
});

test("names beyond ASCII are refused by both, so the slots have one encoding", async () => {
  const names = ["grüße", "a{ü}", "🚀", "a b"];
  await on.resize(4);
  for (const name of names) {
    await expect(on.queueOf(4).enqueue(1, { id: name })).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(on.queueOf(4).enqueue(1, { group: name })).rejects.toMatchObject({
      code: "invalid_argument",
    });
  }
  expect(
    await both.python(`
      codes = []
      for name in ${JSON.stringify(names)}:
          for options in ({"id": name}, {"group": name}, {"dedup": (name, 1)}):
              try: queue.enqueue(1, **options)
              except SluiceError as error: codes.append(error.code)
      report(codes)
    `),
  ).toEqual(Array<string>(12).fill("bad_argument"));
});

test("what one client has enqueued the other knows, in the partition of its slot", async () => {
  await on.resize(4);
  const ids = Array.from({ length: 40 }, (_, i) => (i % 2 ? `t-${i}` : `t-${i}{g-${i % 8}}`));
  const group = (id: string) => /\{(.*)\}/.exec(id)?.[1];
  const queue = on.queueOf(4);
  await queue.enqueueMany(ids.slice(0, 20).map((id) => ({ payload: 1, id, group: group(id) })));
  const { id: first } = await queue.enqueue(1, { dedup: { key: "by-typescript", window: "1h" } });
  const [added, generated, others, second] = await on.reportOf<
    [unknown, [string, boolean][], unknown, string]
  >(`
    ids = ${JSON.stringify(ids)}
    def task(id): return {"payload": 2, "id": id, "group": id[id.index("{") + 1 : -1] if "{" in id else None}
    added = queue.enqueue_many([task(id) for id in ids])
    generated = queue.enqueue_many([{"payload": 3}, {"payload": 4}, {"payload": 5, "group": "g-4"}])
    others = [queue.enqueue(6, dedup=("by-typescript", 1_000)), queue.get(ids[0])["state"], queue.cancel(ids[1])]
    second = queue.enqueue(7, dedup=("by-python", 3_600_000))[0]
    report([added, generated, others, second])
  `);
  expect(added).toEqual(ids.map((id, i) => [id, i >= 20]));
  expect(others).toEqual([[first, false], "pending", "rejected"]);
  expect(await queue.enqueue(8, { dedup: { key: "by-python", window: 1 } })).toEqual({
    id: second,
    created: false,
  });

  const { owners } = await fetchMap(on.place);
  const places = await on.partitionsOfIds();
  for (const id of ids) expect([id, places.get(id)]).toEqual([id, owners[slotOf(id)]]);
  for (const [id] of generated) expect(id).toMatch(/^[0-9A-Za-z]{20}(~[0-3]|\{\d+\})$/);
  const [one, two, grouped] = generated.map(([id]) => id) as [string, string, string];
  expect([one, two].map((id) => id.at(-1))).toEqual([String(places.get(one)), String(places.get(one))]);
  expect(slotOf(grouped)).toBe(slotOf("g-4"));
  for (const id of [one, grouped, second])
    expect(await queue.get(id)).toMatchObject({ id, state: "pending" });
});

test("tasks without a slot of one process go to all partitions, a hundred after the other", async () => {
  await on.resize(4);
  await both.python(`
    # From now on it knows of the partitions.
    queue.get("none")
    for _ in range(8): queue.enqueue_many([{"payload": i} for i in range(50)])
  `);
  const counts = new Map<number, number>();
  for (const partition of (await on.partitionsOfIds()).values()) {
    counts.set(partition, (counts.get(partition) ?? 0) + 1);
  }
  expect([...counts.values()].toSorted((one, other) => one - other)).toEqual([100, 100, 100, 100]);
});

/** Makes Python write down the first words of each request, except those that load a script. */
const noting = `
    post, sent = redis._post, []
    def noted(commands):
        if commands[0][0] != "EVAL": sent.append([command[0] for command in commands])
        return post(commands)
    redis._post = noted
`;

test("an enqueue that does not know of partitions learns of them, and is sent again with the same ids", async () => {
  await both.python(`report(queue.enqueue(1, id="from-before"))`);
  await on.resize(4);
  const [ids, sent, before] = await on.reportOf<[[string, boolean][], string[][], unknown]>(`${noting}
    ids = queue.enqueue_many([{"payload": 1}, {"payload": 2, "group": "g"}, {"payload": 3, "id": "from-before"}, {"payload": 4, "id": "new"}])
    report([ids, sent, Queue(redis, "${QUEUE}").enqueue(5, id="from-before")])
  `);
  expect(sent.slice(0, 3)).toEqual([
    ["EVALSHA", "EVALSHA"],
    ["GET", "HGET"],
    // The former partition is asked first.
    ["EVALSHA"],
  ]);
  const [plain, grouped] = ids.map(([id]) => id) as [string, string];
  expect(ids.map(([, isNew]) => isNew)).toEqual([true, true, false, true]);
  for (const id of [plain, grouped]) expect(id).toMatch(/^[0-9A-Za-z]{20}$/);
  expect(before).toEqual(["from-before", false]);
  const { owners } = await fetchMap(on.place);
  const places = await on.partitionsOfIds();
  expect([...places]).toEqual(
    expect.arrayContaining([
      ["from-before", 0],
      [plain, 0],
      [grouped, owners[slotOf("g")]],
      ["new", owners[slotOf("new")]],
    ]),
  );
  expect(places.size).toBe(4);
});

test("each call of a client that does not know of partitions learns of them", async () => {
  await on.resize(4);
  const queue = on.queueOf(4);
  await queue.enqueueMany(Array.from({ length: 12 }, (_, i) => ({ payload: i, id: `t-${i}` })));
  const tasks = [];
  while (tasks.length < 6) tasks.push(...(await queue.dequeue({ max: 1 })));
  const receipts = tasks.map(({ receipt }) => receipt);
  const states = await on.reportOf<unknown[]>(`
    def new(): return Queue(redis, "${QUEUE}")
    states = [new().get("t-0")["state"] in ("pending", "working"), new().get("unknown"), new().cancel("unknown")]
    states.append([new().settle([Settlement(receipt, "complete")])[0].state for receipt in ${JSON.stringify(receipts)}])
    rest = [task for _ in range(20) for task in new().dequeue()]
    report([*states, [task.complete().state for task in rest]])
  `);
  const completed = Array<string>(6).fill("completed");
  expect(states).toEqual([true, null, "not_found", completed, completed]);
});

test("a late copy of an enqueue that did not know of partitions adds nothing", async () => {
  const [late, ids] = await on.reportOf<[string, unknown[]]>(`
    from rest import Unanswered
    queue.enqueue(0, id="first")
    post, copies = redis._post, []
    def lost(commands):
        copies.append(commands)
        redis._post = post
        raise Unanswered("no_answer", "lost")
    redis._post = lost
    ids = queue.enqueue_many([{"payload": 1, "id": "a"}, {"payload": 2, "group": "g"}, {"payload": 3}])
    redis.command("SET", "late", json.dumps(copies))
    report([copies[0][-1][0], ids])
  `);
  expect([late, ids.length]).toEqual(["EVALSHA", 3]);
  await on.resize(4);
  const before = await rig.keySpace();
  expect(
    await both.python(`
      [commands] = json.loads(redis.command("GET", "late"))
      report([answer.get("error", "none").split(" ")[0] for answer in redis._post(commands)])
    `),
  ).toEqual(["WRONGTYPE"]);
  expect(await rig.keySpace()).toEqual(before);
  await rig.command("DEL", "late");
});

test("a copy of an enqueue, whose answer was lost before the queue got partitions, adds nothing again", async () => {
  await both.python(`
    queue.enqueue(0, id="first")
    redis.command("SET", "options", json.dumps([{"payload": i, "group": f"g-{i}"} for i in range(20)]))
  `);
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
    report(queue.enqueue_many(json.loads(post([["GET", "options"]])[0]["result"])))
  `) as Promise<[string, boolean][]>;
  while (!(await rig.command("GET", "added"))) await sleep(10);
  await on.resize(4);
  await rig.command("SET", "resized", "1");
  const added = await python;
  expect(added.map(([, isNew]) => isNew)).toEqual(Array<boolean>(20).fill(true));
  const places = await on.partitionsOfIds();
  expect([...places.keys()].toSorted()).toEqual(["first", ...added.map(([id]) => id)].toSorted());
  expect(new Set(places.values())).toEqual(new Set([0]));
  await rig.command("DEL", "options", "added", "resized");
});

test("a marker without a map is completed by a call of Python", async () => {
  await both.python(`report([queue.enqueue(1, id="a"), queue.enqueue(2, id="b", group="g")])`);
  await renameKeys(on.place, 3);
  expect(await fetchMap(on.place)).toEqual(UNPARTITIONED);
  expect(
    await both.python(
      `report([queue.get("a")["state"], queue.enqueue(3, id="b"), queue.enqueue(4, id="c")])`,
    ),
  ).toEqual(["pending", ["b", false], ["c", true]]);
  const owners = spread(UNPARTITIONED.owners, 3);
  expect(await fetchMap(on.place)).toMatchObject({
    version: 1,
    owners,
    next: undefined,
    former: [0],
    isPreparing: false,
  });
  expect(await on.partitionsOfIds()).toEqual(
    new Map([
      ["a", 0],
      ["b", 0],
      ["c", owners[slotOf("c")]],
    ]),
  );
});

test("a marker whose map was lost gets one above what the partitions know", async () => {
  await on.resize(4);
  await on.queueOf(4).enqueueMany(Array.from({ length: 20 }, (_, i) => ({ payload: i, id: `t-${i}` })));
  await rig.command("HDEL", "{sluice:queues}:maps", QUEUE);
  expect(await both.python(`report([queue.enqueue(1, id=f"t-{i}")[1] for i in range(21)])`)).toEqual([
    ...Array<boolean>(20).fill(false),
    true,
  ]);
  const map = await fetchMap(on.place);
  expect(map).toMatchObject({ version: 2, next: undefined, isPreparing: false });
  expect(owning(map)).toEqual([0, 1, 2, 3]);
  expect(map.former).toEqual([0, 1, 2, 3]);
});

test("a first map of Python's finds what other nodes have if that of the map and of partition 0 is empty", async () => {
  const ids = Array.from({ length: 40 }, (_, i) => `t-${i}`);
  await on.resize(2);
  await on.queueOf(2).enqueueMany(ids.map((id) => ({ payload: id, id })));
  const left = [...(await on.partitionsOfIds())].flatMap(([id, partition]) => (partition === 1 ? [id] : []));
  const keys = (await rig.command("KEYS", "*")) as string[];
  await rig.command("DEL", ...keys.filter((key) => !key.includes("{emails/1}")));
  await renameKeys(on.place, 4);
  const added = await on.reportOf<boolean[]>(`report([queue.enqueue(1, id=f"t-{i}")[1] for i in range(40)])`);
  expect(added).toEqual(ids.map((id) => !left.includes(id)));
  expect(await on.partitionsOfIds()).toHaveProperty("size", 40);
  expect(await fetchMap(on.place)).toMatchObject({ version: 2, next: undefined, former: [0, 1] });
  const taken = await both.python(
    `report(sorted(task.id for _ in range(9) for task in queue.dequeue(max=10)))`,
  );
  expect(taken).toEqual(ids.toSorted());
});

test("a client that has known the partitions notices that their map was lost, and that Redis is empty", async () => {
  await on.resize(4);
  await on.queueOf(4).enqueueMany(Array.from({ length: 20 }, (_, i) => ({ payload: i, id: `t-${i}` })));
  const known = await on.reportOf<boolean[]>(`
    knows = Queue(redis, "${QUEUE}")
    known = [knows.enqueue(1, id="t-0")[1]]
    redis.command("HDEL", redis.maps, "${QUEUE}")
    knows._partitions.forget()
    known += [knows.enqueue(1, id=f"t-{i}")[1] for i in range(21)]
    redis.command("FLUSHALL")
    knows._partitions.forget()
    report([*known, knows.enqueue(1, id="anew")[1], len(knows.dequeue())])
  `);
  expect(known).toEqual([...Array<boolean>(21).fill(false), true, true, 1]);
  expect(await rig.command("KEYS", "*tasks")).toEqual([`sluice:{${QUEUE}}:tasks`]);
});

test("new partitions of a queue with settings wait for the library, and the queue works until then", async () => {
  await new Operator(QUEUE, { transport: on.place.transport }).configure({ maxPending: 100 });
  await renameKeys(on.place, 2);
  const ids = Array.from({ length: 9 }, (_, i) => `t-${i}`);
  expect(
    await both.python(`
      added = [queue.enqueue(i, id=f"t-{i}") for i in range(9)]
      report([added, len([task for _ in range(2) for task in Queue(redis, "${QUEUE}").dequeue(max=9)])])
    `),
  ).toEqual([ids.map((id) => [id, true]), 9]);
  const map = await fetchMap(on.place);
  expect(map).toMatchObject({ version: 1, owners: UNPARTITIONED.owners, isPreparing: true });
  await on.resize(2);
  expect(await fetchMap(on.place)).toMatchObject({ owners: map.next, next: undefined, former: [0] });
});

test("Python's sweep gives partition 0 what the registry still has of its queue", async () => {
  await both.python(`queue.enqueue(1, id="a")`);
  await on.resize(2);
  // A client that did not know of the partitions.
  await rig.command("ZADD", "sluice:queues", String(Date.now()), QUEUE, "1", `~${QUEUE}`);
  await both.python("sweep(redis)");
  expect(await rig.command("ZMSCORE", "sluice:queues", QUEUE, `~${QUEUE}`, `~${QUEUE}/0`)).toEqual([
    null,
    null,
    "1",
  ]);
  expect(await rig.command("ZSCORE", "sluice:queues", `${QUEUE}/0`)).not.toBeNull();
  await rig.command("ZREM", "sluice:queues", `~${QUEUE}/0`);
});

test("a queue without partitions gets no command for them", async () => {
  const sent = await on.reportOf<string[][]>(`
    post, sent = redis._post, []
    # A script that Redis does not know yet is sent again with EVAL.
    redis._post = lambda commands: sent.append([command[0] for command in commands]) or post(commands)
    queue.enqueue(1, id="a", group="g")
    queue.enqueue(1)
    [task] = queue.dequeue()
    task.requeue()
    queue.get("a"), queue.get("b"), queue.cancel("a"), queue.dequeue(max=5), queue.dequeue()
    report([commands for commands in sent if commands[0] != "EVAL"])
  `);
  expect(sent.map((commands) => commands.join(" "))).toEqual([
    "EVALSHA EVALSHA",
    ...Array<string>(8).fill("EVALSHA"),
  ]);
  expect(await rig.command("KEYS", "*maps")).toEqual([]);
});

test("a change that stopped between two steps is completed by an enqueue of Python", async () => {
  await on.resize(4);
  const old = Array.from({ length: 20 }, (_, i) => ({ payload: 1, id: `old-${i}` }));
  await on.queueOf(4).enqueueMany(old);
  const map = await fetchMap(on.place);
  const next = map.owners.map((owner) => owner % 2);
  const changing = await putMap(
    on.place,
    map,
    writeMap({ ...map, version: map.version + 1, next, isPreparing: false }),
  );
  const kept = map.owners.map((owner, slot) => (owner === next[slot] ? owner : -1));
  await setOwned(on.place, changing.version, kept, owning(map));
  const ids = Array.from({ length: 20 }, (_, i) => `t-${i}`);
  expect(
    await both.python(`report(queue.enqueue_many([{"payload": 1, "id": f"t-{i}"} for i in range(20)]))`),
  ).toEqual(ids.map((id) => [id, true]));
  const after = await fetchMap(on.place);
  expect(after).toMatchObject({ version: changing.version, owners: next, next: undefined, former: [2, 3] });
  const places = await on.partitionsOfIds();
  expect(new Set(ids.map((id) => places.get(id)))).toEqual(new Set([0, 1]));
});

test("an owner that has lost its note gets it again, and a lost map a later version", async () => {
  await on.resize(4);
  const enqueue = (id: string) => both.python(`report(queue.enqueue(1, id="${id}"))`);
  const map = await fetchMap(on.place);
  const partition = map.owners[slotOf("a")] as number;
  const tasksOf = (one: number) => queueKeys(`${QUEUE}/${one}`).tasks;
  await rig.command("HDEL", tasksOf(partition), "~slots");
  expect(await enqueue("a")).toEqual(["a", true]);
  expect(await fetchMap(on.place)).toEqual(map);

  for (let other = 0; other < 4; other++) {
    await rig.command("HSET", tasksOf(other), "~slots", `1;9;${"0".repeat(64)}`);
  }
  expect(await enqueue("b")).toEqual(["b", true]);
  expect(await fetchMap(on.place)).toMatchObject({
    version: 10,
    owners: map.owners,
    next: undefined,
    former: [0, 1, 2, 3],
  });
});

test("a slot that changes hands between two copies of a request gets its task once", async () => {
  await on.resize(4);
  const [id, isNew] = await on.reportOf<[string, boolean]>(`
    from partitions import Partitions
    from rest import Unanswered
    queue = Queue(redis, "${QUEUE}")
    queue._partitions.learn()
    post = redis._post

    def lossy(commands):
        post(commands)
        redis._post = post
        other = Partitions(Redis(os.environ["UPSTASH_REDIS_REST_URL"], os.environ["UPSTASH_REDIS_REST_TOKEN"]), "${QUEUE}")
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
  const places = await on.partitionsOfIds();
  const { owners } = await fetchMap(on.place);
  expect([isNew, [...places.keys()].toSorted()]).toEqual([true, ["first", id].toSorted()]);
  expect(places.get(id)).toBe(((owners[slotOf("g")] as number) + 3) % 4);
});
