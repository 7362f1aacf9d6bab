import { describe, expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import { push, type PushOptions, type PushTools } from "../../../src/features/push/index.ts";
import { drain, type EnqueueOptions, Queue } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";
import { type Answer, startReceiver } from "./receiver.ts";

const rig = useRig();
const queueOf = (name: string) => new Queue(name, { transport: rig.transport, now: () => rig.now });

/** The tools of a deployment, as far as push uses them. */
const tools = { queue: queueOf } as unknown as PushTools;

async function delivering(
  answers: readonly Answer[],
  given: Partial<PushOptions>,
  options: EnqueueOptions = {},
) {
  const receiver = await startReceiver(...answers);
  const here = { allow: ["127.0.0.1"], allowPrivate: ["127.0.0.1"] };
  const handler = push({ url: receiver.url, ...here, ...given });
  const queue = queueOf("emails");
  await queue.enqueue(1, { id: "event-1", group: "acme", headers: { tenant: "a" }, ...options });
  return {
    receiver,
    queue,
    run: (own: PushTools | undefined = tools) => drain(queue, (task) => handler(task, {}, own)),
  };
}

/** The tasks of callbacks: their ids and payloads. */
async function callbacks() {
  const tasks = await queueOf("results").dequeue({ max: 10 });
  return tasks.map(({ id, payload }) => [id, payload]);
}

const of = { id: "event-1", group: "acme", headers: { tenant: "a" } };

describe("callback", () => {
  test("gets a task for a delivery that succeeded, and none for a failed attempt", async () => {
    const { run } = await delivering([500, { status: 201, body: "done" }], { callback: "results" });
    await run();
    expect(await callbacks()).toEqual([]);
    rig.now += 10_000;
    await run();
    expect(await callbacks()).toEqual([
      ["event-1.callback", { ...of, attempt: 2, status: 201, body: "done" }],
    ]);
  });

  test("gets one task if the delivery is repeated because its outcome was lost", async () => {
    const { run, receiver, queue } = await delivering([], { callback: "results" });
    const [lost] = await queue.dequeue({ lease: "1s" });
    const handler = push({ url: receiver.url, allowPrivate: ["127.0.0.1"], callback: "results" });
    await handler(
      Object.assign(lost as object, { signal: new AbortController().signal }) as never,
      {},
      tools,
    );
    rig.now += 1_001;
    await run();
    expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual(["event-1", "event-1"]);
    expect((await callbacks()).map(([id]) => id)).toEqual(["event-1.callback"]);
  });

  test("of a task with a long id has a derived one, always the same", async () => {
    const id = "e".repeat(128);
    const { run } = await delivering([], { callback: "results" }, { id });
    await run();
    const [[derived] = []] = await callbacks();
    expect(derived).toMatch(/^[A-Za-z0-9]{22}$/);
  });

  test("that cannot be added fails the attempt", async () => {
    const { run, queue } = await delivering([], { callback: "results" });
    const refusing = { queue: () => ({ enqueue: () => Promise.reject(new Error("full")) }) };
    await run(refusing as never);
    expect(await queue.get("event-1")).toMatchObject({ state: "delayed", error: { message: "full" } });
  });

  test("needs the tools of a deployment", async () => {
    const { run, queue } = await delivering([], { callback: "results" });
    await run(null as never);
    const message = "callbacks of push need the tools of a deployment";
    expect(await queue.get("event-1")).toMatchObject({ state: "delayed", error: { message } });
  });
});

describe("failureCallback", () => {
  const options = { failureCallback: "results", queue: "emails" };

  test("gets a task for a delivery that failed on its last attempt, not before", async () => {
    const answers = [500, { status: 503, headers: { "retry-after": "10" }, body: "later" }];
    const { run } = await delivering(answers, options, { maxAttempts: 2 });
    await run();
    expect(await callbacks()).toEqual([]);
    rig.now += 10_000;
    await run();
    const report = { ...of, attempt: 2, status: 503, body: "later", error: "HTTP 503: later" };
    expect(await callbacks()).toEqual([["event-1.failed.2", report]]);
    expect(await queueOf("emails").counts()).toMatchObject({ rejected: 1 });
  });

  test("gets a task for a delivery that is given up", async () => {
    const { run } = await delivering([410], options);
    await run();
    expect(await callbacks()).toEqual([
      ["event-1.failed.1", { ...of, attempt: 1, status: 410, body: "", error: "HTTP 410" }],
    ]);
  });

  test("gets another task if the delivery is redriven, and fails again", async () => {
    const { run } = await delivering([410, 410], options);
    await run();
    await rig.operator().redrive({
      ids: ["event-1"],
    });
    await run();
    expect((await callbacks()).map(([id]) => id)).toEqual(["event-1.failed.1", "event-1.failed.2"]);
  });

  test("gets a task for a delivery without a response", async () => {
    const url = () => "http://10.0.0.1/";
    const { run } = await delivering([], { ...options, url, allow: ["10.0.0.1"] });
    await run();
    const error = "url must have a public host, not one of a private network";
    expect(await callbacks()).toEqual([["event-1.failed.1", { ...of, attempt: 1, error }]]);
  });

  test("gets none of a task without a limit of attempts", async () => {
    const { run } = await delivering([500], options, { maxAttempts: 0 });
    await run();
    expect(await callbacks()).toEqual([]);
  });

  test("gets none of an endpoint that is to get nothing now", async () => {
    const later = () => {
      throw Object.assign(new Error("later"), { name: "RetryAfter", delay: 5_000, count: false });
    };
    const { run } = await delivering(
      [],
      { ...options, url: undefined, endpoints: { find: later } },
      { maxAttempts: 1 },
    );
    await run();
    expect(await callbacks()).toEqual([]);
    expect(await queueOf("emails").get("event-1")).toMatchObject({ state: "delayed" });
  });
});

test("a task that is stopped is no failure of its endpoint, and has no callback", async () => {
  const controller = new AbortController();
  const outcomes: unknown[] = [];
  const endpoints = {
    find: () => {
      controller.abort(new Error("closed"));
      return { url: "http://127.0.0.1:1024/" };
    },
    report: (outcome: unknown) => void outcomes.push(outcome),
  };
  const handler = push({
    endpoints,
    allowPrivate: ["127.0.0.1"],
    failureCallback: "results",
    queue: "emails",
  });
  const task = { id: "event-1", payload: 1, signal: controller.signal, attempt: 1 };
  await expect(handler(task as never, {}, tools)).rejects.toThrow("closed");
  expect(outcomes).toEqual([]);
  expect(await callbacks()).toEqual([]);
});

test("in strict order, the deliveries of an endpoint wait for the first one, and others do not", async () => {
  const receiver = await startReceiver({ status: 503, headers: { "retry-after": "7" } });
  const queue = rig.queue({ transport: linked(rig.transport) });
  await rig.operator().configure({ order: "strict" });
  const ids = ["a1", "a2", "b1"];
  await queue.enqueueMany(ids.map((id) => ({ payload: id, id, group: id.slice(0, 1) })));
  const handler = push({ url: receiver.url, allowPrivate: ["127.0.0.1"] });
  const run = () => drain(queue, (task) => handler(task, {}, tools), { concurrency: 1 });
  await run();
  expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual(["a1", "b1"]);
  rig.now += 7_000;
  await run();
  expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual(["a1", "b1", "a1", "a2"]);
});
