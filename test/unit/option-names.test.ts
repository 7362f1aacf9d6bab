import { describe, expect, test } from "vitest";
import { deepSweep, listQueues, Operator, Queue, sweep } from "../../src/index.ts";
import { loose, unsent as transport } from "../support/refusing.ts";

const queue = new Queue("emails", { transport });
const operator = new Operator("emails", { transport });

const receipt = "1.1.1.abcdefgh.a";
const complete = { receipt, outcome: "complete" } as const;
const requeue = { receipt, outcome: "requeue" } as const;

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
    ["limit", () => operator.forgetWorker({ name: "w" }, loose({ limit: 1 }))],
    ["forced", () => operator.deleteQueue(loose({ forced: true }))],
    ["dedup.windw", () => queue.enqueue(1, { dedup: loose({ key: "k", window: 1, windw: 1 }) })],
    ["after", () => queue.wait("a", loose({ after: 1 }))],
    ["settlements[0].backoff.mst", () => queue.settle([{ ...requeue, backoff: loose({ mst: 1 }) }])],
    ["queus", () => sweep(transport, loose({ queus: () => false }))],
    ["queu", () => deepSweep(transport, loose({ queu: "emails" }))],
    ["curser", () => listQueues(transport, loose({ curser: "1" }))],
  ])("%s", async (path, run) => {
    const problem = `${path.replace(/^.*\./, "")} is an unknown option; expected one of \\w+, `;
    const message = expect.stringMatching(problem) as string;
    await expect(async () => run()).rejects.toMatchObject({ code: "invalid_argument", path, message });
  });
});

const controller = loose({ signal: new AbortController() });
const [BOOLEAN, OBJECT, SIGNAL] = ["true or false", "an object", "an AbortSignal"];

test.each<[path: string, must: string, run: () => unknown]>([
  ["again", BOOLEAN, () => queue.enqueue(1, loose({ id: "a", again: "no" }))],
  ["settlements[0].unstarted", BOOLEAN, () => queue.settle([loose({ ...requeue, unstarted: 1 })])],
  ["settlements[0].count", BOOLEAN, () => queue.settle([loose({ ...requeue, count: 0 })])],
  ["force", BOOLEAN, () => operator.deleteQueue(loose({ force: "true" }))],
  ["dryRun", BOOLEAN, () => operator.redrive(loose({ dryRun: 1 }))],
  ["statistics", BOOLEAN, () => operator.configure(loose({ statistics: 1 }))],
  ["options", OBJECT, () => queue.enqueue(1, loose(null))],
  ["tasks[0]", OBJECT, () => queue.enqueueMany(loose([null]))],
  ["options", OBJECT, () => queue.dequeue(loose(null))],
  ["settlements[0]", OBJECT, () => queue.settle(loose([null]))],
  ["signal", SIGNAL, () => queue.enqueue(1, controller)],
  ["signal", SIGNAL, () => queue.enqueueMany([{ payload: 1 }], controller)],
  ["signal", SIGNAL, () => queue.dequeue(controller)],
  ["signal", SIGNAL, () => queue.settle([complete], controller)],
  ["signal", SIGNAL, () => queue.settleAndDequeue([complete], controller)],
  ["signal", SIGNAL, () => sweep(transport, controller)],
])("%s must be %s", async (path, must, run) => {
  const message = `${path} must be ${must}`;
  await expect(async () => run()).rejects.toMatchObject({ code: "invalid_argument", path, message });
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
