import { expect, test } from "vitest";
import {
  applyQueues,
  deepSweep,
  listQueues,
  Operator,
  type PurgeOptions,
  Queue,
  Schedules,
  sweep,
} from "../../src/index.ts";
import { refuses, type Refused, unsent as transport } from "../support/refusing.ts";

// What operators, schedules and sweeps refuse before they send a request, so that nothing is written.

const queue = new Queue("emails", { transport });
const operator = new Operator("emails", { transport });
const schedules = new Schedules("emails", { transport });

test("settings of queues and groups refuse invalid arguments", async () => {
  await refuses(
    (changes) => operator.configure(changes),
    ["maxWorking", { maxWorking: 0 }, { maxWorking: 1.5 }, { events: true, maxWorking: "3" }],
    ["maxPending", { maxPending: -1 }],
    ["rate", { rate: 7 }],
    ["rate.most", { rate: { most: 0, per: 1 } }],
    [
      "rate.per",
      { rate: { most: 1, per: 0 } },
      { rate: { most: 1, per: "1 minute" } },
      { rate: { most: 1 } },
    ],
    ["events", { events: "yes" }],
    ["paused", { paused: true }],
    ["constructor", { constructor: 3 }],
    ["options", null, undefined, 3, "events"],
  );
  await refuses(
    (changes) => operator.configureGroup("a", changes),
    ["weight", { weight: 0 }, { weight: 101 }, { weight: 1.5 }],
    ["maxWorking", { maxWorking: 0 }],
    ["rate.per", { rate: { most: 1, per: "soon" } }],
    ["maxPending", { maxPending: 3 }],
    ["n", { n: 7 }],
  );
  const names: Refused = ["group", "", " a", "é", "x".repeat(129)];
  await refuses((name) => operator.configureGroup(name, { weight: 2 }), names);
  await refuses((name) => operator.groupSettings(name), names);
  await refuses(
    (options) => operator.groups(options),
    ["size", { size: 0 }, { size: 1_001 }],
    ["cursor", { cursor: "1" }, { cursor: "from x" }],
  );
});

test("calls of operators for tasks refuse invalid arguments", async () => {
  await refuses((id) => operator.remove(id), ["id", "~set"]);
  await refuses((options) => operator.peek(options), ["options", 5]);
  await refuses(
    (options: object) => operator.list({ state: "rejected", ...options }),
    ["state", { state: "dead" }, { state: undefined }],
    ["size", { size: 0 }, { size: 1_001 }],
    ["text", { text: "" }, { text: "x".repeat(1_001) }],
    ["txt", { txt: "x" }],
    ["group", { group: "no group" }],
    ["reason", { reason: "bored" }, { reason: [] }, { reason: ["rejected", "bored"] }],
    ["reason", { reason: ["rejected", "cancelled"] }],
    ["endedSince", { endedSince: -1 }],
    ["endedUntil", { endedUntil: 1.5 }],
    ["enqueuedSince", { enqueuedSince: "yesterday" }],
    ["enqueuedUntil", { enqueuedUntil: Number.NaN }],
    ["maxBytes", { maxBytes: 0 }],
  );
  const delayed = (cursor: never) => operator.list({ state: "delayed", cursor });
  await refuses(delayed, ["cursor", "", "x", "1", "-1 a", "1 ", "(1 a", "1 a\n", "1e5 a", 7]);
  const pending = (cursor: never) => operator.list({ state: "pending", cursor });
  await refuses(pending, ["cursor", "1 a", "0 0 - 0", "-1 0 - 0 -", "1 2 a b 3 c"]);
  await refuses(
    (options: PurgeOptions) => operator.purge(options),
    ["state", { state: "working" }, { state: "dead" }],
    // Pending tasks can be purged by group alone.
    ["group", { state: "pending", text: "x" }, { state: "pending", enqueuedUntil: 5 }],
    ["cursor", { state: "pending", cursor: "0 0 - 0 -" }, { state: "rejected", cursor: "pending 0 -" }],
    ["limit", { state: "rejected", limit: 0 }],
    ["dryRun", { state: "pending", dryRun: true }],
    ["groups", { state: "pending", groups: "a" }],
  );
  await refuses(
    (options) => operator.redrive(options),
    ["rate", { rate: 0 }, { rate: Number.NaN }, { rate: 2_000_000 }],
    ["limit", { limit: 0 }],
    ["budget", { budget: "soon" }],
    ["cursor", { cursor: "1 a" }, { cursor: "1 2 3 a\n" }],
    ["ids", { ids: "a" }, { ids: ["a"], text: "x" }, { ids: ["a"], limit: 5 }],
    ["ids[1]", { ids: ["a", "~set"] }, { ids: ["a", null] }],
    ["ids[0].lease", { ids: [{ id: "a", lease: -1 }] }],
    ["options", "d1"],
    ["txt", { txt: "x" }],
  );
});

test("schedules and sweeps refuse invalid arguments", async () => {
  const minutely = { cron: "* * * * *", payload: 1 } as const;
  await refuses((name) => schedules.put(name, minutely), ["name", "", ".x", "x".repeat(101)]);
  await refuses(
    (schedule: object) => schedules.put("x", { ...minutely, ...schedule }),
    ["schedule.delay", { delay: "1m" }],
    ["schedule.id", { id: "y" }],
    ["missed", { missed: "none" }],
    ["until", { until: "tomorrow" }],
    ["paused", { paused: "yes" }],
    ["lease", { lease: 0 }],
    ["priority", { priority: 10 }],
    ["payload", { payload: undefined }],
    ["headers", { headers: { a: 1 } }],
    ["headers.schedule", { headers: { schedule: "x" } }],
    ["headers.scheduled-at", { headers: { "scheduled-at": "x" } }],
  );
  await refuses(
    (options) => sweep(transport, options),
    ["budget", { budget: "soon" }],
    ["limit", { limit: 0 }],
    ["prefix", { prefix: "{x}" }],
    ["queue", { queue: "a b" }],
    ["onDeadLetter", { onDeadLetter: "slack" }],
  );
  await refuses(
    (options) => deepSweep(transport, options),
    // The last two are of another queue.
    ["cursor", { cursor: "a/nowhere/0" }, { cursor: "" }],
    ["cursor", { queue: "a", cursor: "b/tasks/0" }, { queue: "b", cursor: "a/tasks/0" }],
    ["budget", { budget: "soon" }],
    ["queue", { queue: "no queue" }],
    ["examples", { examples: -1 }, { examples: 1_001 }],
    ["onDeadLetter", { onDeadLetter: "slack" }],
  );
  await refuses((options) => applyQueues(transport, [], options), ["prefx", { prefx: "x" }]);
});

test("what needs a transport refuses anything else", async () => {
  for (const call of [sweep, listQueues, deepSweep, (given: never) => applyQueues(given, [])])
    await refuses(call, ["transport", undefined, {}, queue]);
  await refuses((options) => new Queue("a", options), ["transport", undefined, {}]);
});

test("queues and operators refuse invalid options and names", async () => {
  await refuses(
    (options: object) => new Queue("a", { transport, ...options }),
    ["encryption", ...["", false, 0, "key", {}].map((encryption) => ({ encryption }))],
    ["unique", { unique: "a day" }],
    ["schema", { schema: {} }],
    ["onDeadLetter", { onDeadLetter: "slack" }],
    ["wake", { wake: {} }],
    ["wake.window", { wake: { wake: () => {}, window: 99 } }],
    ["wake.every", { wake: { wake: () => {}, every: 1 } }],
  );
  const operatorOf = (options: object) => new Operator("a", { transport, ...options });
  await refuses(operatorOf, ["onDeadLetter", { onDeadLetter: "slack" }]);
  for (const name of ["", ".a", "a b", "a/b", "a{b}", "a:b", "ü", "a".repeat(129)])
    expect(() => new Queue(name, { transport })).toThrow(/queue must be 1 to 128 of/);
});
