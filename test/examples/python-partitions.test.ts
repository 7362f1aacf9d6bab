import { expect, test } from "vitest";
import { slotOf, tagOf } from "../../src/queue/core/partition-slots.ts";
import { owning, writeMap } from "../../src/queue/partitions/map.ts";
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
  // The first enqueue of this client was of one that did not know of the partitions.
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
    queue = Queue(redis, "${QUEUE}", partitioned=True)
    for _ in range(8): queue.enqueue_many([{"payload": i} for i in range(50)])
  `);
  const counts = new Map<number, number>();
  for (const partition of (await on.partitionsOfIds()).values()) {
    counts.set(partition, (counts.get(partition) ?? 0) + 1);
  }
  expect([...counts.values()].toSorted((one, other) => one - other)).toEqual([100, 100, 100, 100]);
});

test("a producer that does not know of partitions learns of them, and its consumer takes from all", async () => {
  await on.resize(4);
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
  expect(new Set((await on.partitionsOfIds()).values())).toEqual(new Set([0, 1]));
});

test("an owner that has lost its note gets it again, and a lost map a later version", async () => {
  await on.resize(4);
  const enqueue = (id: string) => both.python(`report(queue.enqueue(1, id="${id}"))`);
  const map = await fetchMap(on.place);
  const partition = map.owners[slotOf("a")] as number;
  const key = `sluice:{${partition ? `${QUEUE}/${partition}` : QUEUE}}:tasks`;
  await rig.command("HDEL", key, "~slots");
  await rig.command("HSET", `sluice:{${QUEUE}}:tasks`, "~slots", `1;1;${"0".repeat(64)}`);
  expect(await enqueue("a")).toEqual(["a", true]);
  expect(await fetchMap(on.place)).toEqual(map);

  for (let other = 0; other < 4; other++) {
    const name = other ? `${QUEUE}/${other}` : QUEUE;
    await rig.command("HSET", `sluice:{${name}}:tasks`, "~slots", `1;9;${"0".repeat(64)}`);
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
  const places = await on.partitionsOfIds();
  const { owners } = await fetchMap(on.place);
  expect([isNew, [...places.keys()].toSorted()]).toEqual([true, ["first", id].toSorted()]);
  expect(places.get(id)).toBe(((owners[slotOf("g")] as number) + 3) % 4);
});
