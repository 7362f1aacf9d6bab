import { describe, expect, test } from "vitest";
import { type KeyOptions, withDebounce } from "../../src/features/debounce/index.ts";
import { batch, flow } from "../../src/features/flows/index.ts";
import { linked } from "../../src/features/linked/index.ts";
import { applyQueues, defineQueue, type EnqueueOptions, type NewTask, Producer } from "../../src/index.ts";
import { testQueue } from "../../src/testing/index.ts";
import { useRig } from "../support/rig.ts";
import { useDeployments } from "./deployments.ts";

// A queue that is declared with a strict order: what a deployment, and its own methods, accept.
const rig = useRig();
const { deployment } = useDeployments(rig);

const ledger = defineQueue("emails", { order: "strict", onDead: "stop" });
const noGroup = "group is required: the queue emails has a strict order";
const priority = "priority must not be set: the queue emails has a strict order";

const refused: readonly (readonly [string, EnqueueOptions, string])[] = [
  ["without a group", {}, noGroup],
  ["with a priority", { group: "a", priority: 1 }, priority],
];

describe.each(refused)("a task %s is refused", (_, options, message) => {
  const tasks: NewTask<unknown>[] = [
    { payload: 1, group: "a" },
    { payload: 2, ...options },
  ];

  test("by the queue of a handler, also by name", async () => {
    const queue = deployment({ queues: [ledger] }).service.tools().queue;
    for (const one of [queue(ledger), queue("emails")]) {
      await expect(one.enqueue(1, options)).rejects.toMatchObject({ code: "invalid_argument", message });
      await expect(one.enqueueMany(tasks)).rejects.toThrow(`tasks[1].${message}`);
    }
    expect(await queue(ledger).counts()).toMatchObject({ pending: 0 });
  });

  test("over HTTP", async () => {
    const { call } = deployment({ queues: [ledger] });
    const path = "/v1/queues/emails/tasks";
    const answers = [await call(path, { payload: 1, ...options }), await call(path, { tasks })];
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    const details = await Promise.all(
      answers.map(async (one) => ((await one.json()) as object)["detail" as never]),
    );
    expect(details).toEqual([`${message}.`, `tasks[1].${message}.`]);
  });

  test("by its own methods, and by the test double", async () => {
    const own = defineQueue("emails", { order: "strict", transport: () => linked(rig.transport) });
    await expect(testQueue(ledger).enqueue(1, options)).rejects.toThrow(message);
    await expect(own.enqueue(1, options)).rejects.toThrow(message);
    await expect(own.enqueueMany(tasks)).rejects.toThrow(`tasks[1].${message}`);
  });

  test("by an enqueue with a key", async () => {
    const queue = withDebounce(
      deployment({ queues: [ledger] })
        .service.tools()
        .queue(ledger),
    );
    const singleton = { key: "a", while: "waiting" } as const;
    await expect(queue.enqueue(1, { ...options, singleton })).rejects.toThrow(message);
    await expect(queue.enqueue(1, { ...options, id: "a", replace: true })).rejects.toThrow(message);
  });

  test("in a flow, and a batch", async () => {
    const own = defineQueue("emails", { order: "strict", transport: () => linked(rig.transport) });
    for (const queue of [
      deployment({ queues: [ledger] })
        .service.tools()
        .queue(ledger),
      own,
    ]) {
      const task = { queue, payload: 1, ...options };
      const inner = { ref: "in", flow: [{ ref: "a", ...task }] } as const;
      await expect(flow({ ref: "a", ...task })).rejects.toThrow(`tasks[0].${message}`);
      await expect(flow(inner)).rejects.toThrow(`tasks[0].flow[0].${message}`);
      const calls = batch([{ queue, payload: 1, group: "a" }], { completed: task });
      await expect(calls).rejects.toThrow(`completed.${message}`);
    }
  });

  test("in a flow over HTTP, and in front of a task of one", async () => {
    const { call } = deployment({ queues: [ledger] });
    const detail = async (answer: Response) => ((await answer.json()) as { detail: string }).detail;
    const bad = { ref: "bad", queue: "emails", payload: 1, ...options };
    expect(await detail(await call("/v1/flows", { tasks: [bad] }))).toBe(`tasks[0].${message}.`);
    const tasks = [
      { ref: "first", queue: "pages", payload: 1 },
      { ref: "next", queue: "pages", payload: 1, after: "first" },
    ];
    expect((await call("/v1/flows", { tasks })).status).toBe(201);
    const pulled = await (await call("/v1/queues/pages/tasks/pull", {})).json();
    const [{ id, receipt }] = (pulled as { tasks: [{ id: string; receipt: string }] }).tasks;
    const before = `/v1/queues/pages/tasks/${encodeURIComponent(id)}/before`;
    const answer = await call(before, { receipt, ref: "next", tasks: [bad] });
    expect(await detail(answer)).toBe(`tasks[0].${message}.`);
  });

  test("in a schedule that is put", async () => {
    const { service, call } = deployment({ queues: [ledger] });
    const schedule = { every: "24h", payload: 1, ...options } as const;
    await expect(service.tools().schedules(ledger).put("daily", schedule)).rejects.toThrow(message);
    const answer = await call("/v1/queues/emails/schedules/daily", schedule, "PUT");
    expect([answer.status, ((await answer.json()) as object)["detail" as never]]).toEqual([
      400,
      `${message}.`,
    ]);
  });

  test("in a declared schedule", () => {
    const schedules = { daily: { every: "24h", payload: 1, ...options } } as const;
    const declared = defineQueue("emails", { order: "strict", schedules });
    expect(() => deployment({ queues: [declared] })).toThrow(`emails.schedules.daily.${message}`);
  });
});

test("with partitions, the id or the dedup key of a task must be in the partition of its group", async () => {
  const divided = defineQueue("emails", { order: "strict", partitions: 2 });
  const queue = deployment({ queues: [divided] })
    .service.tools()
    .queue(divided);
  const why = "must contain {account-7}: the queue emails has a strict order, and partitions";
  await expect(queue.enqueue(1, { group: "account-7", id: "entry-2" })).rejects.toThrow(`id ${why}`);
  const dedup = { key: "entry-2", window: "1m" } as const;
  await expect(queue.enqueue(1, { group: "account-7", dedup })).rejects.toThrow(`dedup.key ${why}`);
  expect(await queue.enqueue(1, { group: "account-7", id: "entry-2{account-7}" })).toMatchObject({
    created: true,
  });
});

test("with partitions, so must the key of a debounce, a throttle or a singleton", async () => {
  const divided = defineQueue("emails", { order: "strict", partitions: 2 });
  const { service, call } = deployment({ queues: [divided] });
  const queue = withDebounce(service.tools().queue(divided));
  const why = "must contain {account-7}: the queue emails has a strict order, and partitions";
  const key = "balance";
  const rows: [string, KeyOptions][] = [
    ["debounce", { debounce: { key, wait: "1m" } }],
    ["throttle", { throttle: { key, most: 1, per: "1m" } }],
    ["singleton", { singleton: { key, while: "waiting" } }],
  ];
  for (const [name, options] of rows) {
    const task = { group: "account-7", id: "entry-2{account-7}", ...options };
    await expect(queue.enqueue(1, task)).rejects.toThrow(`${name}.key ${why}`);
    const answer = await call("/v1/queues/emails/tasks", { payload: 1, ...task });
    expect([answer.status, ((await answer.json()) as object)["detail" as never]]).toEqual([
      400,
      `${name}.key ${why}.`,
    ]);
  }
});

test("with partitions, tasks of a group follow each other, whatever keys they have", async () => {
  const divided = defineQueue("emails", { order: "strict", partitions: 4 });
  const { service, cron } = deployment({ queues: [divided] });
  await cron();
  const queue = withDebounce(service.tools().queue(divided));
  const group = "account-7";
  await queue.enqueue(1, { group, singleton: { key: `first{${group}}`, while: "unfinished" } });
  await queue.enqueue(2, { group, throttle: { key: group, most: 1, per: "1m" } });
  await queue.enqueue(3, { group });
  await queue.enqueue(4, { group, id: `x{${group}}`, replace: true });
  for (const payload of [1, 2, 3, 4]) {
    const tasks = await queue.dequeue({ max: 10 });
    expect(tasks.map((task) => task.payload)).toEqual([payload]);
    expect([...(await queue.dequeue({ max: 10 }))]).toEqual([]);
    await tasks[0]?.complete();
  }
});

test("cron applies the order, and what unsets it", async () => {
  await deployment({ queues: [ledger] }).cron();
  expect(await rig.operator().settings()).toMatchObject({ order: "strict", onDead: "stop" });
  await deployment({ queues: [defineQueue("emails", { maxWorking: 1 })] }).cron();
  expect(await rig.operator().settings()).toMatchObject({ order: null, onDead: "continue" });
});

test("its own methods need the linked transport", async () => {
  await applyQueues(rig.transport, [ledger]);
  const tasks = [{ payload: 1, group: "a" }];
  const own = defineQueue("emails", { order: "strict", transport: () => rig.transport });
  await expect(own.enqueueMany(tasks)).rejects.toMatchObject({ code: "newer_schema" });
  const ordered = defineQueue("emails", { order: "strict", transport: () => linked(rig.transport) });
  expect(await ordered.enqueueMany(tasks)).toMatchObject([{ created: true }]);
  // A producer with another transport does not know what the declaration forbids.
  const producer = new Producer(ledger, { transport: linked(rig.transport) });
  expect(await producer.enqueue(1)).toMatchObject({ created: true });
});
