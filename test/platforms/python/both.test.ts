import { expect, test } from "vitest";
import { Operator, Queue, Schedules, sweep } from "../../../src/index.ts";
import { offload } from "../../../src/features/offload/index.ts";
import { memoryStore } from "../../../src/testing/index.ts";
import { awkwardPayloads, comparable } from "../../support/payloads.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { useBothClients } from "./both-clients.ts";

const both = useBothClients(useRig());

test("payloads of every kind come to Python, and from there as results and as payloads", async () => {
  const awkward = awkwardPayloads.map(([name, payload], i) => ({
    payload,
    id: `t${i}`,
    headers: { name, Grüße: "ü\n🚀" },
    ...(i % 2 && { group: "g;%" }),
  }));
  await both.queue.enqueueMany(awkward);
  const [added, seen] = await both.python(`
    def work(task):
        completed = task.complete(task.payload)
        again = {"payload": task.payload, "id": f"from-{task.id}", "headers": task.headers}
        return again, [task.id, task.headers, task.group, task.attempt, completed.state]

    answers = []
    while tasks := queue.dequeue(max=10, worker="python;1"):
        answers += map(work, tasks)
    answers.sort(key=lambda each: int(each[1][0][1:]))
    report([queue.enqueue_many(again for again, _ in answers), [seen for _, seen in answers]])
  `);
  expect(added).toEqual(awkward.map(({ id }) => [`from-${id}`, true]));
  expect(seen).toEqual(awkward.map(({ id, headers, group = "" }) => [id, headers, group, 1, "completed"]));
  const found = await both.queue.dequeue({ max: 100 });
  expect(found.map(({ id, payload, headers }) => [id, comparable(payload), headers])).toEqual(
    awkward.map(({ id, payload, headers }) => [`from-${id}`, comparable(payload), headers]),
  );
  for (const { id, payload } of awkward) {
    const info = await both.queue.get(id);
    expect([id, comparable(info?.result)]).toEqual([id, comparable(payload)]);
    expect(info).toMatchObject({ state: "completed", worker: { name: "python;1" }, attempt: 1 });
  }
});

test("a task of Python's has all of its options in TypeScript, and its result in Python", async () => {
  const added = await both.python(`
    queue.enqueue_many([{
        "payload": b"\\x00\\xff", "id": "all", "lease": 60_000, "max_attempts": 0, "result_ttl": 90_000, "dead_ttl": 0,
        "group": "a;b%", "priority": 7, "headers": {"trace": "ü;1"},
    }])
  `);
  expect(added).toEqual([["all", true]]);
  expect(await both.get("all")).toMatchObject({
    state: "pending",
    group: "a;b%",
    priority: 7,
    options: { lease: 60_000, maxAttempts: 0, resultTtl: 90_000, deadTtl: 0 },
  });
  const [task] = await both.queue.dequeue();
  const payload = new Uint8Array([0, 255]);
  expect(task).toMatchObject({ payload, attempt: 1, group: "a;b%", headers: { trace: "ü;1" } });
  await task?.complete({ ü: [1.5, null] });
  expect(await both.get("all")).toMatchObject({ state: "completed", result: { ü: [1.5, null] } });
});

test("both say the same of tasks that either extended, requeued, rejected, cancelled and handed back", async () => {
  const answers = await both.python(`
    queue.enqueue_many([{"payload": id, "id": id} for id in ("requeued", "rejected", "returned", "cancelled")])
    requeued, rejected, returned, cancelled = queue.dequeue(max=10)
    requeued.extend(progress=[1])
    requeued.extend(progress={"of;": "ü%"})
    requeued.requeue(ValueError("grün; 5%"), delay=3_600_000, count=False)
    rejected.reject("for good", ttl=60_000)
    returned.hand_back()
    report([queue.cancel("cancelled"), cancelled.extend()[-1], queue.get("cancelled")["history"][-1][0]])
  `);
  expect(answers).toEqual(["working", true, "cancel requested"]);
  const requeued = { state: "delayed", attempt: 1, charged: 0, requeues: 1, progress: { "of;": "ü%" } };
  const error = { name: "ValueError", message: "grün; 5%" };
  expect(await both.get("requeued")).toMatchObject({ ...requeued, error });
  expect(await both.get("rejected")).toMatchObject({ state: "rejected", error: "for good" });
  expect(await both.get("cancelled")).toMatchObject({ state: "working", cancelRequested: true });
  expect(await both.get("returned")).toMatchObject({ state: "pending", attempt: 1, charged: 0, requeues: 0 });
  expect(await both.get("unknown")).toBeNull();

  const [task] = await both.queue.dequeue({ worker: { name: "a;b", incarnation: "2" } });
  await task?.extend(undefined, { progress: "half; way" });
  expect(await both.get("returned")).toMatchObject({ state: "working", attempt: 2, progress: "half; way" });
  await task?.requeue({ delay: "1h", error: new RangeError("zu groß") });
  const errors = [{ attempt: 2, error: "RangeError: zu groß" }];
  expect(await both.get("returned")).toMatchObject({ state: "delayed", errors, worker: { name: "a;b" } });
});

test("Python's sweep leaves schedules alone, and Python works on the tasks that they enqueue", async () => {
  // Put a minute ago.
  const schedules = new Schedules(QUEUE, { transport: both.transport, now: () => Date.now() - 60_000 });
  await schedules.put("tick", { every: "1s", payload: "tock", headers: { a: "ü" } });
  expect(await both.python("sweep(redis)")).toEqual({ [QUEUE]: [0, 0, 0, 0] });
  expect(await sweep(both.transport)).toMatchObject({ scheduled: 1 });
  const time = (await schedules.get("tick"))?.lastAt;
  const headers = { a: "ü", schedule: "tick", "scheduled-at": String(time) };
  const tasks = await both.python("[[task.id, task.payload, task.headers] for task in queue.dequeue()]");
  expect(tasks).toEqual([[`tick.${time}`, "tock", headers]]);
});

test("Python registers a queue with its first enqueue only", async () => {
  both.gateway.resetUsage();
  await both.python("for i in range(5): queue.enqueue(i)");
  expect(both.gateway.usage()).toMatchObject({ requests: 5, byCommand: { EVALSHA: 6, ZADD: 1, LPUSH: 5 } });
});

test("Python follows maxPending and a pause", async () => {
  const operator = new Operator(QUEUE, { transport: both.transport });
  await operator.configure({ maxPending: 2 });
  const answers = await both.python(`
    answers = []
    for i in range(4):
        try: answers.append(queue.enqueue(i, id=str(i)))
        except SluiceError as error: answers.append(error.code)
    report(answers)
  `);
  expect(answers).toEqual([["0", true], ["1", true], "queue_full", "queue_full"]);
  await operator.pause();
  expect(await both.python("len(queue.dequeue())")).toBe(0);
});

test("Python refuses a payload that is in an object store, and leaves it to a consumer that can read it", async () => {
  const { transport } = both;
  const queue = new Queue(QUEUE, { transport, offload: offload({ store: memoryStore(), over: 10 }) });
  const large = { payload: "a large payload", maxAttempts: 1, deadTtl: 0 };
  await queue.enqueueMany([
    { ...large, id: "a" },
    { payload: "small", id: "b" },
    { ...large, id: "c" },
  ]);
  const message = "offload_failed: the payload is in an object store, which this client does not read";
  const answers = await both.python(`
    answers = [[task.id for task in queue.dequeue(max=2)]]
    try: queue.dequeue(max=2)
    except SluiceError as error: answers.append(str(error))
    report(answers)
  `);
  expect(answers).toEqual([["b"], message]);
  const refused = { state: "delayed", charged: 0, error: { name: "SluiceError", message } };
  for (const id of ["a", "c"])
    expect(await queue.get(id, { payload: true })).toMatchObject({ ...refused, payload: large.payload });
});
