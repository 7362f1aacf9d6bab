import { describe, expect, test } from "vitest";
import { deepSweep, listQueues, Operator, Queue, sweep } from "../../src/index.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";

/** A transport that fails: wrong options are refused before any request. */
const transport: Transport = {
  send: () => {
    throw new Error("a request was sent");
  },
};

const queue = new Queue("emails", { transport });
const operator = new Operator("emails", { transport });

/** Removes the type, as calls from JavaScript have none. */
const loose = (value: unknown): never => value as never;
const receipt = "1.1.1.abcdefgh.a";

describe("an unknown option is refused by name, with the known ones", () => {
  test.each<[path: string, run: () => unknown]>([
    ["maxAttempt", () => new Queue("emails", loose({ transport, maxAttempt: 3 }))],
    ["dely", () => queue.enqueue(1, loose({ dely: "5m" }))],
    ["tasks[1].grup", () => queue.enqueueMany([{ payload: 1 }, loose({ payload: 1, grup: "a" })])],
    ["delay", () => queue.enqueueMany([{ payload: 1 }], loose({ delay: "5m" }))],
    ["maxx", () => queue.dequeue(loose({ maxx: 5 }))],
    ["maxx", () => queue.settleAndDequeue([{ receipt, outcome: "complete" }], loose({ maxx: 5 }))],
    ["worker.silentafter", () => queue.dequeue({ worker: loose({ name: "w", silentafter: "1m" }) })],
    ["dely", () => queue.settle([{ receipt, outcome: "complete" }], loose({ dely: 1 }))],
    ["settlements[0].dely", () => queue.settle([loose({ receipt, outcome: "requeue", dely: 1 })])],
    ["settlements[0].delay", () => queue.settle([loose({ receipt, outcome: "reject", delay: 1 })])],
    ["leas", () => queue.cancel("a", loose({ leas: 3 }))],
    ["leas", () => queue.heartbeat({ name: "w" }, loose({ leas: "1m" }))],
    ["timeout", () => queue.wait("a", loose({ timeout: "1m" }))],
    ["limits", () => operator.purge(loose({ state: "pending", limits: 5 }))],
    ["dry", () => operator.redrive(loose({ dry: true }))],
    ["maxWorkng", () => operator.configure(loose({ maxWorkng: 3 }))],
    ["rate.max", () => operator.configure({ rate: loose({ most: 3, per: "1s", max: 4 }) })],
    ["wieght", () => operator.configureGroup("a", loose({ wieght: 3 }))],
    ["curser", () => operator.workers(loose({ curser: "1" }))],
    ["limits", () => operator.failWorker("w", loose({ limits: 1 }))],
    ["forced", () => operator.deleteQueue(loose({ forced: true }))],
    ["dedup.windw", () => queue.enqueue(1, { dedup: loose({ key: "k", window: 1, windw: 1 }) })],
    ["after", () => queue.wait("a", loose({ after: 1 }))],
    [
      "settlements[0].backoff.mst",
      () => queue.settle([{ receipt, outcome: "requeue", backoff: loose({ mst: 1 }) }]),
    ],
    ["queus", () => sweep(transport, loose({ queus: () => false }))],
    ["queu", () => deepSweep(transport, loose({ queu: "emails" }))],
    ["curser", () => listQueues(transport, loose({ curser: "1" }))],
  ])("%s", async (path, run) => {
    const name = path.replace(/^.*\./, "");
    await expect(async () => run()).rejects.toMatchObject({
      code: "invalid_argument",
      path,
      message: expect.stringMatching(
        new RegExp(`${name} is an unknown option; expected one of \\w+, `),
      ) as string,
    });
  });
});

test.each<[path: string, run: () => unknown]>([
  ["again", () => queue.enqueue(1, loose({ id: "a", again: "no" }))],
  ["settlements[0].unstarted", () => queue.settle([loose({ receipt, outcome: "requeue", unstarted: 1 })])],
  ["settlements[0].count", () => queue.settle([loose({ receipt, outcome: "requeue", count: 0 })])],
  ["force", () => operator.deleteQueue(loose({ force: "true" }))],
  ["dryRun", () => operator.redrive(loose({ dryRun: 1 }))],
  ["statistics", () => operator.configure(loose({ statistics: 1 }))],
])("an option that must be true or false is refused otherwise: %s", async (path, run) => {
  await expect(async () => run()).rejects.toMatchObject({
    code: "invalid_argument",
    path,
    message: `${path} must be true or false`,
  });
});

test.each<[path: string, run: () => unknown]>([
  ["options", () => queue.enqueue(1, loose(null))],
  ["tasks[0]", () => queue.enqueueMany(loose([null]))],
  ["options", () => queue.dequeue(loose(null))],
  ["settlements[0]", () => queue.settle(loose([null]))],
])("an argument that must be an object is refused otherwise: %s", async (path, run) => {
  await expect(async () => run()).rejects.toMatchObject({
    code: "invalid_argument",
    path,
    message: `${path} must be an object`,
  });
});

test.each(["", "two words", "ü", "k".repeat(256), 7])(
  "the idempotency key %j is refused by every call that takes one",
  async (idempotencyKey) => {
    const options = loose({ idempotencyKey });
    const error = {
      code: "invalid_argument",
      path: "idempotencyKey",
      message: "idempotencyKey must be 1 to 255 visible ASCII characters",
    };
    const calls: (() => Promise<unknown>)[] = [
      () => queue.enqueue(1, options),
      () => queue.enqueueMany([{ payload: 1 }], options),
      () => queue.dequeue(options),
      () => queue.settleAndDequeue([{ receipt, outcome: "complete" }], options),
      () => operator.pause(options),
      () => operator.resume(options),
      () => operator.configure({ maxWorking: 3 }, options),
      () => operator.configureGroup("a", { weight: 3 }, options),
      () => operator.deleteQueue(options),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject(error);
  },
);

test.each<[call: string, run: (options: never) => unknown]>([
  ["enqueue", (options) => queue.enqueue(1, options)],
  ["enqueueMany", (options) => queue.enqueueMany([{ payload: 1 }], options)],
  ["dequeue", (options) => queue.dequeue(options)],
  ["settle", (options) => queue.settle([{ receipt, outcome: "complete" }], options)],
  ["settleAndDequeue", (options) => queue.settleAndDequeue([{ receipt, outcome: "complete" }], options)],
  ["sweep", (options) => sweep(transport, options)],
])("an AbortController instead of its signal is refused: %s", async (_, run) => {
  await expect(async () => run(loose({ signal: new AbortController() }))).rejects.toMatchObject({
    code: "invalid_argument",
    path: "signal",
    message: "signal must be an AbortSignal",
  });
});
