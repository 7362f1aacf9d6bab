import { describe, expect, test } from "vitest";
import { type EnqueueOptions, type NewTask, Operator, Queue } from "../../src/index.ts";
import { many } from "../support/new-tasks.ts";
import { loose, refuses, type Refused, unsent as transport } from "../support/refusing.ts";

// What calls of producers, consumers and workers refuse before they send a request, so that nothing is written.

const queue = new Queue("emails", { transport });
const operator = new Operator("emails", { transport });

/** The same, where the argument is a part of another one at this path. */
const within = (path: string, refused: readonly Refused[]) =>
  refused.map(([of, ...given]): Refused => [`${path}${of}`, ...given]);

const dedup = { key: "k", window: 1 };
const TASK: readonly Refused[] = [
  ["id", { id: "a b" }, { id: ".a" }, { id: "~lease" }, { id: "a".repeat(129) }],
  ["delay", { delay: -1 }, { delay: "2w" }],
  // Seconds, and two of which only one can count.
  [
    "at",
    { at: new Date("soon") },
    { at: 1_800_000_000 },
    { at: new Date(1_800_000_000) },
    { delay: 1, at: 1 },
  ],
  ["lease", { lease: 0 }],
  ["maxAttempts", { maxAttempts: 1.5 }],
  ["headers", { headers: { a: 1 } }, { headers: ["a"] }],
  ["headers", { headers: new Headers({ a: "1" }) }, { headers: new Map([["a", "1"]]) }],
  ["priority", { priority: -1 }, { priority: 10 }, { priority: 1.5 }, { priority: "5" }],
  ["dedup", { dedup: null }],
  ["dedup.key", { dedup: { key: "", window: 1 } }, { dedup: { key: "a b", window: 1 } }],
  ["dedup.window", { dedup: { key: "a", window: 0 } }, { dedup: { key: "a" } }],
  ["again", { again: true }, { id: "a", again: true, dedup }],
  ["unique", { unique: "24h" }, { id: "a", again: true, unique: "24h" }],
  ["unique", { id: "a", unique: -1 }, { id: "a", unique: "3651d" }],
];

const itself = { list: [] as unknown[] };
itself.list.push(itself);
const PAYLOAD: readonly Refused[] = [
  ["", undefined, new Float32Array(2), Promise.resolve(1)],
  [".items[1].price", { items: [{ price: 1 }, { price: 2n }] }],
  [".tags", { tags: new Map([["a", 1]]) }],
  // JSON would write them as objects.
  [".files[0].a", { files: [{ a: new Uint8Array([1, 2]) }] }],
  [".file", { file: Buffer.from("hello") }],
  [".list[0]", itself],
  ["[1].due", [null, { due: new Date("soon") }]],
];

describe("an enqueue refuses", () => {
  test("invalid options of a task", async () => {
    await refuses((options: EnqueueOptions) => queue.enqueue(1, options), ...TASK);
    const second = (options: EnqueueOptions) =>
      queue.enqueueMany([{ payload: 1 }, { payload: 2, ...options }]);
    await refuses(second, ...within("tasks[1].", TASK));
  });

  test("payloads that JSON cannot express", async () => {
    await refuses((payload) => queue.enqueue(payload), ...within("payload", PAYLOAD));
    await refuses((payload) => queue.enqueueMany([{ payload }]), ...within("tasks[0].payload", PAYLOAD));
  });

  const elevenOf = (payload: string): NewTask<unknown>[] => Array.from({ length: 11 }, () => ({ payload }));
  test.each<[what: string, tasks: NewTask<unknown>[], path: string]>([
    ["payload over 1 MiB", [{ payload: "a".repeat(1_048_575) }], "tasks[0].payload"],
    [
      "payload over 1 MiB in bytes, not in characters",
      [{ payload: "€".repeat(349_525) }],
      "tasks[0].payload",
    ],
    ["bytes over 1 MiB", [{ payload: new Uint8Array(1_048_577) }], "tasks[0].payload"],
    ["headers over 16 KiB", [{ payload: 1, headers: { a: "b".repeat(16_384) } }], "tasks[0].headers"],
    ["more than a request takes", elevenOf("a".repeat(1_000_000)), "tasks"],
    ["more bytes than a request takes, but fewer characters", elevenOf("€".repeat(300_000)), "tasks"],
  ])("%s", async (_, tasks, path) => {
    await expect(queue.enqueueMany(tasks)).rejects.toMatchObject({ code: "too_large", path });
  });

  test("1,001 tasks, and a task instead of a list of tasks", () =>
    refuses((tasks) => queue.enqueueMany(tasks), ["tasks", many(1_001), { payload: 1 }]));
});

const receipt = "1.1.1.tokentoken.a";
const SETTLEMENT: readonly Refused[] = [
  ["receipt", { receipt: "nonsense", outcome: "complete" }, { receipt: 7, outcome: "complete" }],
  ["outcome", { receipt, outcome: "finish" }],
  ["delay", { receipt, outcome: "requeue", delay: -1 }],
  ["lease", { receipt, outcome: "extend", lease: 0 }],
  ["result", { receipt, outcome: "complete", result: 1n }],
  ["progress", { receipt, outcome: "extend", progress: new Uint8Array(3) }],
  ["progress", { receipt, outcome: "extend", progress: new Uint8Array(2_000) }],
  ["progress", { receipt, outcome: "extend", progress: 1n }],
  ...[{ delay: 1 }, { backoff: true }, { error: "no" }].map((more): Refused => [
    "unstarted",
    { receipt, outcome: "requeue", unstarted: true, ...more },
  ]),
];

describe("a settle refuses", () => {
  test("invalid settlements, also beside valid ones", async () => {
    await refuses((settlement) => queue.settle([settlement]), ...within("settlements[0].", SETTLEMENT));
    const second = (settlement: never) => queue.settle([{ receipt, outcome: "complete" }, settlement]);
    await refuses(second, ...within("settlements[1].", SETTLEMENT));
    await refuses((settlements) => queue.settle(settlements), ["settlements", {}]);
  });

  test.each<[path: string, settlement: object]>([
    ["result", { outcome: "complete", result: "a".repeat(1_048_576) }],
    ["error", { outcome: "reject", error: { log: "a".repeat(17_000) } }],
    ["progress", { outcome: "extend", progress: "x".repeat(1_023) }],
    ["progress", { outcome: "extend", progress: "ü".repeat(600) }],
  ])("a larger %s than is kept", async (path, settlement) => {
    const refused = queue.settle([loose({ receipt, ...settlement })]);
    await expect(refused).rejects.toMatchObject({ code: "too_large", path: `settlements[0].${path}` });
  });
});

test("calls of consumers refuse invalid arguments", async () => {
  await refuses(
    (options) => queue.dequeue(options),
    ["max", { max: 0 }, { max: 1_001 }, { max: 1.5 }],
    ["lease", { lease: 0 }, { lease: "soon" }],
    ["maxBytes", { maxBytes: 0 }],
    ["token", { token: "short" }, { token: "has a space" }],
    ["wait", { wait: "61s" }],
  );
  await refuses((options) => queue.get("a", options), ["payload", { payload: 1 }]);
  await refuses((options) => queue.wait("a", options), ["for", { for: -1 }]);
  await refuses((id) => queue.wait(id), ["id", " a"]);
  await refuses(
    (options) => queue.watch("a", options),
    ["after", { after: -1 }],
    ["for", { for: "soon" }],
    ["every", { every: 9 }],
  );
  await refuses((id) => queue.watch(id), ["id", ""]);
});

const one = { name: "one", incarnation: "a" };

test("calls of and about workers refuse invalid arguments", async () => {
  await refuses(
    (worker) => queue.heartbeat(worker),
    ["worker", undefined, null, "one"],
    ["worker.name", {}, { name: "a b" }],
    ["worker.incarnation", { name: "one", incarnation: "" }],
    ["worker.pid", { name: "one", pid: -1 }],
    ["worker.node", { name: "one", node: 1 }, { name: "one", node: "x".repeat(129) }],
    ["worker.silentAfter", { name: "one", silentAfter: 0 }],
    ["worker.goneAfter", { name: "one", goneAfter: 0 }],
  );
  await refuses(
    (options) => queue.heartbeat(one, options),
    ["lease", { lease: 0 }],
    ["receipts", { receipts: receipt }, { receipts: Array.from({ length: 1_001 }, () => receipt) }],
    ["receipts[1]", { receipts: [receipt, "t0"] }],
  );
  await refuses(
    (worker) => operator.failWorker(worker),
    ["worker", "", "a b", undefined],
    ["worker.name", {}],
    ["worker.incarnation", { name: "one", incarnation: "" }],
  );
  await refuses(
    (worker) => operator.forgetWorker(worker),
    ["worker", "one", undefined],
    ["worker.name", {}],
    ["worker.incarnation", { name: "one", incarnation: "" }],
  );
  await refuses((options) => operator.failWorker("a", options), ["limit", { limit: 0 }, { limit: 1_001 }]);
  await refuses((options) => operator.workers(options), ["cursor", { cursor: "x" }], ["size", { size: 0 }]);
});
