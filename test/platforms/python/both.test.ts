import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { listQueues, Operator, Queue, Schedules, sweep } from "../../../src/index.ts";
import { offload } from "../../../src/offload/index.ts";
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
  const answers = await both.python(`
    def work(task):
        extended = task.extend(progress={"of;": "ü%", "n": 1})
        progress = queue.get(task.id)["progress"]
        completed = task.complete(task.payload)
        again = {"payload": task.payload, "id": f"from-{task.id}", "headers": task.headers}
        return again, [task.id, task.headers, task.group, task.attempt, extended.state, progress, completed.state]

    answers = []
    while tasks := queue.dequeue(max=10, worker="python;1"):
        answers += map(work, tasks)
    answers.sort(key=lambda each: int(each[1][0][1:]))
    added = queue.enqueue_many(again for again, _ in answers)
    report([added, [seen for _, seen in answers]])
  `);
  const progress = { "of;": "ü%", n: 1 };
  expect(answers).toEqual([
    awkward.map(({ id }) => [`from-${id}`, true]),
    awkward.map(({ id, headers, group = "" }) => [id, headers, group, 1, "working", progress, "completed"]),
  ]);
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
    report(queue.enqueue_many([{
        "payload": b"\\x00\\xff", "id": "all", "lease": 60_000, "max_attempts": 0, "result_ttl": 90_000, "dead_ttl": 0,
        "group": "a;b%", "priority": 7, "headers": {"trace": "ü;1"},
    }]))
  `);
  expect(added).toEqual([["all", true]]);
  expect(await both.queue.get("all")).toMatchObject({
    state: "pending",
    group: "a;b%",
    priority: 7,
    options: { lease: 60_000, maxAttempts: 0, resultTtl: 90_000, deadTtl: 0 },
  });
  const [task] = await both.queue.dequeue();
  expect(task).toMatchObject({
    payload: new Uint8Array([0, 255]),
    attempt: 1,
    group: "a;b%",
    headers: { trace: "ü;1" },
  });
  await task?.complete({ ü: [1.5, null] });
  expect(await both.python(`report(queue.get("all")["result"] == {"ü": [1.5, None]})`)).toBe(true);
});

test("TypeScript sees how Python requeued, rejected, cancelled and handed back", async () => {
  await both
    .python(`
    queue.enqueue_many([{"payload": id, "id": id} for id in ("requeued", "rejected", "returned", "cancelled")])
    requeued, rejected, returned, cancelled = queue.dequeue(max=10)
    requeued.extend(progress=[1])
    requeued.requeue(ValueError("grün; 5%"), delay=3_600_000, count=False)
    rejected.reject("for good", ttl=60_000)
    returned.hand_back()
    report([queue.cancel("cancelled"), cancelled.extend()[-1], cancelled.requeue("late")])
  `)
    .then((answers) => expect(answers).toEqual(["working", true, [true, "rejected", "cancelled", 0, true]]));
  const of = async (id: string) => {
    const { transitions = [], ...info } = (await both.queue.get(id)) ?? {};
    return { ...info, to: transitions.map(({ to }) => to) };
  };
  expect(await of("requeued")).toMatchObject({
    state: "delayed",
    error: { name: "ValueError", message: "grün; 5%" },
    progress: [1],
    attempt: 1,
    charged: 0,
    requeues: 1,
    to: ["working", "delayed"],
  });
  expect(await of("rejected")).toMatchObject({ state: "rejected", reason: "rejected", error: "for good" });
  expect(await of("cancelled")).toMatchObject({
    state: "rejected",
    reason: "cancelled",
    to: ["working", "cancelRequested", "rejected"],
  });
  expect(await of("returned")).toMatchObject({ state: "pending", attempt: 1, charged: 0, requeues: 0 });
});

test("Python dequeues and sweeps beside tasks whose last lease has expired", async () => {
  const expire = async (id: string) => {
    await both.queue.enqueue(1, { id, maxAttempts: 1 });
    await both.queue.dequeue({ lease: 1 });
    await sleep(5);
  };
  await expire("a");
  expect(
    await both.python(`
      queue.enqueue(1, id="b")
      report([task.id for task in queue.dequeue(max=10)])
    `),
  ).toEqual(["b"]);
  await expire("c");
  expect(await both.python("report([task.id for task in queue.dequeue(max=10)])")).toEqual([]);
  await expire("d");
  expect(await both.python("report(sweep(redis))")).toEqual({ [QUEUE]: [0, 0, 1, 0] });
  for (const id of ["a", "c", "d"]) {
    expect(await both.queue.get(id)).toMatchObject({ state: "rejected", reason: "lease_expired" });
  }
});

test("Python sees how TypeScript requeued and rejected", async () => {
  await both.queue.enqueueMany(["requeued", "rejected"].map((id) => ({ payload: id, id })));
  const [requeued, rejected] = await both.queue.dequeue({
    max: 2,
    worker: { name: "a;b", incarnation: "2" },
  });
  await requeued?.extend(undefined, { progress: "half; way" });
  await requeued?.requeue({ delay: "1h", error: new RangeError("zu groß") });
  await rejected?.reject("for good");
  const answers = await both.python(`
    def known(id):
        info = queue.get(id)
        times = {name for name in info if name.endswith("_at")}
        shown = {name: info[name] for name in info if name not in times}
        errors = [(attempt, text) for attempt, _, text in info["errors"]]
        history = [state for state, _ in info["history"]]
        return {**shown, "errors": errors, "history": history, "times": sorted(times)}
    report([known("requeued"), known("rejected"), queue.get("unknown")])
  `);
  const beginning = { attempt: 1, charged: 1, version: 3, worker: "a;b 2" };
  expect(answers).toEqual([
    {
      ...beginning,
      id: "requeued",
      state: "delayed",
      lease: 1,
      requeues: 1,
      progress: "half; way",
      error: { name: "RangeError", message: "zu groß" },
      errors: [[1, "RangeError: zu groß"]],
      history: ["working", "delayed"],
      times: ["dequeued_at", "due_at", "enqueued_at", "requeued_at"],
    },
    {
      ...beginning,
      id: "rejected",
      state: "rejected",
      reason: "rejected",
      lease: 2,
      requeues: 0,
      error: "for good",
      errors: [[1, "for good"]],
      history: ["working", "rejected"],
      times: ["dequeued_at", "ended_at", "enqueued_at"],
    },
    null,
  ]);
});

test("a receipt of one client settles in the other, once", async () => {
  await both.queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  const receipt = (await both.python("report(queue.dequeue()[0].receipt)")) as string;
  expect(await both.queue.settle([{ receipt, outcome: "complete" }])).toMatchObject([{ ok: true }]);
  const [task] = await both.queue.dequeue();
  const receipts = JSON.stringify([receipt, task?.receipt]);
  expect(
    await both.python(`report(queue.settle(Settlement(receipt, "reject") for receipt in ${receipts}))`),
  ).toEqual([
    [false, "lost", "", 0, false],
    [true, "rejected", "rejected", 0, false],
  ]);
  expect(await task?.complete()).toMatchObject({ ok: false, code: "lease_lost" });
});

test("an id that one client has enqueued is known to the other, and so is a dedup key", async () => {
  await both.queue.enqueue(1, { id: "own", dedup: { key: "k;%", window: "1h" } });
  expect(
    await both.python(`
      own = [queue.enqueue(2, id="own"), queue.enqueue(3, dedup=("k;%", 1))]
      report([*own, queue.enqueue(4, id="python", dedup=("l", 3_600_000))])
    `),
  ).toEqual([
    ["own", false],
    ["own", false],
    ["python", true],
  ]);
  const other = await both.queue.enqueue(5, { dedup: { key: "l", window: 1 } });
  expect(other).toEqual({ id: "python", created: false });

  const [, python] = await both.queue.dequeue({ max: 2 });
  await python?.complete();
  expect(
    await both.python(`report([queue.enqueue(6, id="python"), queue.enqueue(7, id="python", again=True)])`),
  ).toEqual([
    ["python", false],
    ["python", true],
  ]);
});

test("a queue in which Python enqueues is registered, and the sweep of either client promotes its tasks", async () => {
  expect(
    await both.python(`
      queue.enqueue(1, id="a", delay=1)
      queue.enqueue(2, id="b")
      time.sleep(0.01)
      report([sweep(redis), queue.get("a")["state"]])
    `),
  ).toEqual([{ [QUEUE]: [1, 0, 0, 0] }, "pending"]);
  const { queues, now } = await listQueues(both.transport);
  expect(queues).toEqual([{ name: QUEUE, seenAt: expect.any(Number) as number }]);
  expect(Math.abs(now - (queues[0]?.seenAt ?? 0))).toBeLessThan(60_000);

  await both.python(`
    queue.enqueue(3, id="c", at=1, group="g")
    queue.enqueue(4, id="d", delay=1, group="g")
    time.sleep(0.01)
  `);
  expect(await sweep(both.transport)).toMatchObject({ queues: 1, promoted: 1, failed: [] });
});

test("Python's sweep leaves schedules alone, and Python works on the tasks that they enqueue", async () => {
  // Put a minute ago.
  const schedules = new Schedules(QUEUE, { transport: both.transport, now: () => Date.now() - 60_000 });
  await schedules.put("tick", { every: "1s", payload: "tock", headers: { a: "ü" } });
  expect(await both.python("report(sweep(redis))")).toEqual({ [QUEUE]: [0, 0, 0, 0] });
  expect(await sweep(both.transport)).toMatchObject({ scheduled: 1 });
  const time = (await schedules.get("tick"))?.lastAt;
  expect(
    await both.python(`
      [task] = queue.dequeue()
      report([task.id, task.payload, task.headers])
    `),
  ).toEqual([`tick.${time}`, "tock", { a: "ü", schedule: "tick", "scheduled-at": String(time) }]);
});

test("Python registers a queue with its first enqueue only", async () => {
  both.gateway.resetUsage();
  await both.python("for i in range(5): queue.enqueue(i)");
  expect(both.gateway.usage()).toMatchObject({ requests: 5, byCommand: { EVALSHA: 6, ZADD: 1, LPUSH: 5 } });
});

test("Python follows maxPending and a pause", async () => {
  const operator = new Operator(QUEUE, { transport: both.transport });
  await operator.configure({ maxPending: 2 });
  expect(
    await both.python(`
      answers = []
      for i in range(4):
          try: answers.append(queue.enqueue(i, id=str(i)))
          except SluiceError as error: answers.append(error.code)
      report(answers)
    `),
  ).toEqual([["0", true], ["1", true], "queue_full", "queue_full"]);
  await operator.pause();
  expect(await both.python("report(len(queue.dequeue()))")).toBe(0);
});

test("Python refuses a payload that is in an object store, and leaves it to a consumer that can read it", async () => {
  const { transport } = both;
  const queue = new Queue(QUEUE, { transport, offload: offload({ store: memoryStore(), over: 10 }) });
  const large = "a large payload";
  await queue.enqueueMany([
    { payload: large, id: "a", maxAttempts: 1, deadTtl: 0 },
    { payload: "small", id: "b" },
    { payload: large, id: "c", maxAttempts: 1, deadTtl: 0 },
  ]);
  const refusal = "the payload is in an object store, which this client does not read";
  expect(
    await both.python(`
      answers = [[task.id for task in queue.dequeue(max=2)]]
      try: queue.dequeue(max=2)
      except SluiceError as error: answers.append(str(error))
      report(answers)
    `),
  ).toEqual([["b"], `offload_failed: ${refusal}`]);
  for (const id of ["a", "c"]) {
    const error = { name: "SluiceError", message: `offload_failed: ${refusal}` };
    const found = await queue.get(id, { payload: true });
    expect(found).toMatchObject({ state: "delayed", charged: 0, error, payload: large });
  }
});
