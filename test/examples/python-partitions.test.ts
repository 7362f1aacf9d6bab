import { beforeEach, describe, expect, test } from "vitest";
import { Operator, Queue } from "../../src/index.ts";
import { slotOf, tagOf } from "../../src/queue/core/partition-slots.ts";
import { owning, writeMap } from "../../src/queue/partitions/map.ts";
import { slotOfTask } from "../../src/queue/partitions/placement.ts";
import { fetchMap, putMap, setOwned } from "../../src/queue/partitions/resize.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { partitionSpaces } from "../support/partition-spaces.ts";
import { QUEUE, useRig } from "../support/rig.ts";
import { useBothClients } from "./python.ts";

const rig = useRig();
const both = useBothClients(rig);

/** That of another function instance in each test, which remembers nothing. */
let transport: Transport;
beforeEach(() => {
  transport = { send: (commands, options) => both.transport.send(commands, options) };
});

const place = () => ({ name: QUEUE, prefix: undefined, transport });
const resize = (count: number) => new Operator(QUEUE, { transport }).resize(count);
const queueOf = (partitions: number) => new Queue(QUEUE, { transport, partitions });
const reportOf = async <T>(code: string) => (await both.python(code)) as T;

/** Each id with the partition that has it. */
async function partitionsOfIds(): Promise<Map<string, number>> {
  const spaces = partitionSpaces(await rig.keySpace(), QUEUE);
  const places = [...spaces].flatMap(([partition, { tasks }]) =>
    [...tasks.keys()].filter((field) => !/^[.~]/.test(field)).map((id) => [id, partition] as const),
  );
  expect(new Set(places.map(([id]) => id)).size).toBe(places.length);
  return new Map(places);
}

describe("where a task is", () => {
  test("both clients compute the same slots and tags", async () => {
    const texts =
      "123456789 a order-17 order-17{customer-5} customer-5 a{b a}b{c} a{}b{c} a{b}{c} x{{y}z} {a} A{!} a;b%";
    const names = [
      ...texts.split(" "),
      "0".repeat(128),
      ...Array.from({ length: 300 }, (_, i) => `task-${i}`),
    ];
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
      { id: "a{g}", group: "g" },
      { id: "a{g}", group: "g", dedup: "k{g}" },
      { id: "g", group: "g" },
      { id: "a{k}", dedup: "k" },
      { id: "a", group: "g" },
      { id: "a{g}", group: "g", dedup: "k" },
      { id: "a", dedup: "k" },
      {},
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
    expect(inTypeScript.slice(7)).toEqual([...Array<string>(3).fill("bad_argument"), null]);
  });

  test("names beyond ASCII are refused by both, so the slots have one encoding", async () => {
    const names = ["grüße", "a{ü}", "🚀", "a b"];
    await resize(4);
    for (const name of names) {
      await expect(queueOf(4).enqueue(1, { id: name })).rejects.toMatchObject({ code: "invalid_argument" });
      await expect(queueOf(4).enqueue(1, { group: name })).rejects.toMatchObject({
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
    await resize(4);
    const ids = Array.from({ length: 40 }, (_, i) => (i % 2 ? `t-${i}` : `t-${i}{g-${i % 8}}`));
    const group = (id: string) => /\{(.*)\}/.exec(id)?.[1];
    const queue = queueOf(4);
    await queue.enqueueMany(ids.slice(0, 20).map((id) => ({ payload: 1, id, group: group(id) })));
    const { id: first } = await queue.enqueue(1, { dedup: { key: "by-typescript", window: "1h" } });
    const [added, generated, others, second] = await reportOf<
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

    const { owners } = await fetchMap(place());
    const places = await partitionsOfIds();
    for (const id of ids) expect([id, places.get(id)]).toEqual([id, owners[slotOf(id)]]);
    // The first enqueue of this client was of one that did not know of the partitions.
    for (const [id] of generated) expect(id).toMatch(/^[0-9A-Za-z]{20}(~[0-3]|\{\d+\})$/);
    const [one, two, grouped] = generated.map(([id]) => id) as [string, string, string];
    expect([one, two].map((id) => id.at(-1))).toEqual([String(places.get(one)), String(places.get(one))]);
    expect(slotOf(grouped)).toBe(slotOf("g-4"));
    for (const id of [one, grouped, second])
      expect(await queue.get(id)).toMatchObject({ id, state: "pending" });
  });
});

test("tasks without a slot of one process go to all partitions, a hundred after the other", async () => {
  await resize(4);
  await both.python(`
    queue = Queue(redis, "${QUEUE}", partitioned=True)
    for _ in range(8): queue.enqueue_many([{"payload": i} for i in range(50)])
  `);
  const counts = new Map<number, number>();
  for (const partition of (await partitionsOfIds()).values()) {
    counts.set(partition, (counts.get(partition) ?? 0) + 1);
  }
  expect([...counts.values()].toSorted((one, other) => one - other)).toEqual([100, 100, 100, 100]);
});

test("a producer that is not told of partitions learns of them, and its consumer takes from all", async () => {
  await resize(4);
  expect(
    await both.python(`
      first = queue.enqueue_many([{"payload": 1}, {"payload": 2}])
      known = queue._partitions.known
      queue.enqueue_many([{"payload": i, "id": f"t-{i}"} for i in range(20)])
      taken = [task for _ in range(30) for task in queue.dequeue(max=5)]
      report([["~" in id for id, _ in first], known, len(taken), {task.complete().state for task in taken} == {"completed"}])
    `),
  ).toEqual([[false, false], true, 22, true]);
});

test("receipts of a partition settle it in either client", async () => {
  await resize(4);
  const queue = queueOf(4);
  await queue.enqueueMany(Array.from({ length: 20 }, (_, i) => ({ payload: i, id: `t-${i}` })));
  // Partitions 0 to 3 have some each.
  const receipts = await reportOf<string[]>(`
    queue = Queue(redis, "${QUEUE}", partitioned=True)
    tasks = [task for _ in range(10) for task in queue.dequeue(max=4)]
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
  await resize(1);
  await resize(4);
  const python = `queue = Queue(redis, "${QUEUE}", partitioned=True)`;
  const tasks = (payload: number) => `[{"payload": ${payload}, "id": f"t-{i}"} for i in range(30)]`;
  const [, keys] = await reportOf<[unknown, string[]]>(`
    ${python}
    queue.enqueue_many([*${tasks(1)}, {"payload": 1, "id": "ended"}])
    keys = [queue.enqueue(1, dedup=(f"k-{i}", 3_600_000))[0] for i in range(10)]
    done = [task.complete().state for _ in range(60) for task in queue.dequeue(max=1) if task.id == "ended"]
    report([done, keys])
  `);
  await resize(2);
  expect((await fetchMap(place())).former).toEqual([2, 3]);
  const [again, owners, lives, found] = await reportOf<[unknown, unknown, unknown, number]>(`
    ${python}
    again = queue.enqueue_many(${tasks(2)})
    owners = [queue.enqueue(2, dedup=(f"k-{i}", 1))[0] for i in range(10)]
    lives = [queue.enqueue(3, id="ended"), queue.enqueue(3, id="ended", again=True), queue.get("ended")["version"]]
    report([again, owners, lives, sum(queue.get(f"t-{i}") is not None for i in range(30))])
  `);
  expect(again).toEqual(Array.from({ length: 30 }, (_, i) => [`t-${i}`, false]));
  expect(owners).toEqual(keys);
  expect(found).toBe(30);
  expect(lives).toEqual([["ended", false], ["ended", true], expect.any(Number)]);
  // The leases of the first process are still held.
  expect(
    await both.python(`${python}\nreport(len([t for _ in range(9) for t in queue.dequeue(max=9)]))`),
  ).toBe(1);
});

test("a change that stopped between two steps is completed by an enqueue of Python", async () => {
  await resize(4);
  const map = await fetchMap(place());
  const next = map.owners.map((owner) => owner % 2);
  const changing = await putMap(
    place(),
    map,
    writeMap({ ...map, version: map.version + 1, next, notBefore: 0 }),
  );
  const kept = map.owners.map((owner, slot) => (owner === next[slot] ? owner : -1));
  await setOwned(place(), changing.version, kept, owning(map));
  const ids = Array.from({ length: 20 }, (_, i) => `t-${i}`);
  expect(
    await both.python(`report(queue.enqueue_many([{"payload": 1, "id": f"t-{i}"} for i in range(20)]))`),
  ).toEqual(ids.map((id) => [id, true]));
  const after = await fetchMap(place());
  expect(after).toMatchObject({ version: changing.version, owners: next, next: undefined, former: [2, 3] });
  expect(new Set((await partitionsOfIds()).values())).toEqual(new Set([0, 1]));
});

test("an owner that has lost its note gets it again, and a lost map a later version", async () => {
  await resize(4);
  const enqueue = (id: string) => both.python(`report(queue.enqueue(1, id="${id}"))`);
  const map = await fetchMap(place());
  const partition = map.owners[slotOf("a")] as number;
  const key = `sluice:{${partition ? `${QUEUE}/${partition}` : QUEUE}}:tasks`;
  await rig.command("HDEL", key, "~slots");
  await rig.command("HSET", `sluice:{${QUEUE}}:tasks`, "~slots", `1;1;${"0".repeat(64)}`);
  expect(await enqueue("a")).toEqual(["a", true]);
  expect(await fetchMap(place())).toEqual(map);

  for (let other = 0; other < 4; other++) {
    const name = other ? `${QUEUE}/${other}` : QUEUE;
    await rig.command("HSET", `sluice:{${name}}:tasks`, "~slots", `1;9;${"0".repeat(64)}`);
  }
  expect(await enqueue("b")).toEqual(["b", true]);
  expect(await fetchMap(place())).toMatchObject({ version: 10, owners: map.owners, next: undefined });
});

describe("what consumers cost", () => {
  const IDLE = 130_000;

  test("an idle queue is polled for one look at the registry, and partitions with work are found", async () => {
    await resize(4);
    const { owners } = await fetchMap(place());
    const names = [QUEUE, ...[1, 2, 3].map((partition) => `${QUEUE}/${partition}`)];
    const queue = queueOf(4);
    await queue.enqueueMany(Array.from({ length: 40 }, (_, i) => ({ payload: 1, id: `t-${i}` })));
    for (let i = 0; i < 20; i++) {
      const tasks = await queue.dequeue({ max: 10 });
      await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
    }
    // Notes that are old enough.
    for (const name of names) await rig.command("ZADD", "sluice:queues", String(Date.now() - IDLE), name);
    const counting = `
      queue = Queue(redis, "${QUEUE}", partitioned=True)
      post, sent = redis._post, []
      redis._post = lambda commands: (commands[0][0] == "EVAL" or sent.append(len(commands))) and None or post(commands)
    `;
    const [requests, scores] = await reportOf<[number[], number[]]>(`${counting}
      assert queue.dequeue() == []
      report([sent[:], [float(score) for score in redis.command("ZMSCORE", "sluice:queues", *${JSON.stringify(names)})]])
    `);
    // The map; a dequeue, a look at a second partition and one at the registry; looks at the other two; their notes.
    expect(requests).toEqual([1, 3, 2, 1]);
    expect(scores.map(Math.sign)).toEqual([1, -1, -1, -1]);

    const id = Array.from({ length: 300 }, (_, i) => `late-${i}`).find(
      (name) => owners[slotOf(name)] === 3,
    ) as string;
    const [polls, found] = await reportOf<[number, string[]]>(`${counting}
      assert queue.dequeue() == []
      sent.clear()
      for _ in range(3): assert queue.dequeue() == []
      polls = sum(sent)
      Queue(redis, "${QUEUE}", partitioned=True).enqueue(1, id="${id}")
      report([polls, [task.id for task in queue.dequeue()]])
    `);
    // Each poll takes from partition 0, and reads the registry.
    expect(polls).toBe(6);
    expect(found).toEqual([id]);
  });
});

test("Python's sweep adds up the partitions of a queue, and leaves out those that are idle", async () => {
  await resize(4);
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

test("a slot that changes hands between two copies of a request gets its task once", async () => {
  await resize(4);
  const [id, isNew] = await reportOf<[string, boolean]>(`
    from partitions import Partitions
    from rest import Unanswered
    queue = Queue(redis, "${QUEUE}", partitioned=True)
    queue._partitions.map()
    post = redis._post

    def lossy(commands):
        post(commands)
        redis._post = post
        other = Partitions(Redis(os.environ["UPSTASH_REDIS_REST_URL"], os.environ["UPSTASH_REDIS_REST_TOKEN"]), "${QUEUE}", True)
        map = other.map()
        following = map.owners.translate(str.maketrans("0123", "1230"))
        other._complete(other._put(map, map._replace(version=map.version + 1, next=following)))
        raise Unanswered("no_answer", "lost")

    # The scripts are known to Redis then.
    queue.enqueue(0, id="first")
    redis._post = lossy
    report(queue.enqueue(1, group="g"))
  `);
  const places = await partitionsOfIds();
  const { owners } = await fetchMap(place());
  expect([isNew, [...places.keys()].toSorted()]).toEqual([true, ["first", id].toSorted()]);
  expect(places.get(id)).toBe(((owners[slotOf("g")] as number) + 3) % 4);
});

test("a fault of the network at any one request changes no answer of a client with partitions", async () => {
  await resize(4);
  await resize(3);
  const [answers, different] = await reportOf<[unknown, unknown]>(`
    stored = redis.command("HGET", redis.maps, "${QUEUE}")
    post, sent = redis._post, []

    def day():
        post([["FLUSHALL"], ["HSET", redis.maps, "${QUEUE}", stored], ["ZADD", "sluice:queues", "4", "/${QUEUE}"]])
        sent.clear()
        queue, answers = Queue(redis, "${QUEUE}", partitioned=True), []
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

    def set_fault(fault):
        url, token = os.environ["UPSTASH_REDIS_REST_URL"], os.environ["UPSTASH_REDIS_REST_TOKEN"]
        for method, body in (("DELETE", None), ("POST", json.dumps(fault).encode())):
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            urllib.request.urlopen(urllib.request.Request(f"{url}/-/faults", body, headers, method=method)).read()

    redis._post = lambda commands: sent.append(1) or post(commands)
    day()
    expected, different = day(), []
    requests = len(sent)
    for kind in ({"kind": "lose-reply"}, {"kind": "duplicate", "answer": "second"}):
        for nth in range(1, requests + 1):
            # The request that sets up the day comes first.
            set_fault({**kind, "match": {"nth": nth + 1}})
            actual = day()
            if actual != expected: different.append([kind, nth, actual])
    report([expected, different])
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
