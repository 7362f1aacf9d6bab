/** Calls of all scripts. */
import {
  applyQueues,
  deepSweep,
  defineQueue,
  listQueues,
  SluiceError,
  sweep,
  type DeepSweepReport,
  type PurgeReport,
  type Settlement,
  type SluiceErrorCode,
  type SweepReport,
  type WorkerFailed,
} from "../../../src/index.ts";
import { putRecords } from "../../../src/features/alerts/records.ts";
import { alertsKey } from "../../../src/kernel/names/keys.ts";
import { beginAlertsScript } from "../../../src/features/alerts/alert-scripts.ts";
import { measureQueues } from "../../../src/operate/health/measure.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { lastReply } from "../../../src/kernel/scripts/replies.ts";
import { seen } from "../../support/day.ts";
import { QUEUE } from "../../support/rig.ts";
import { enqueues } from "./enqueue-operations.ts";
import { ofEndpoints } from "./endpoint-operations.ts";
import { ofFlows } from "./flow-operations.ts";
import { handOvers } from "./hand-over-operations.ts";
import { ofKeys } from "./keyed-operations.ts";
import type { Operation } from "./operation.ts";
import { ofOrder } from "./order-operations.ts";
import { ofPartitioning } from "./partition-operations.ts";
import { now, worker, type Caller } from "./starting-point.ts";
import { ofQStash } from "./qstash-operations.ts";
import { ofTopics } from "./topic-operations.ts";

/** The counts of a call whose first copy has done all the work. */
const nothingLeft =
  (...counts: readonly string[]) =>
  (answer: object): unknown => ({ ...answer, ...Object.fromEntries(counts.map((name) => [name, 0])) });

/** The report of a deep sweep if the answer that listed the repairs was lost. */
const untold =
  (...faults: readonly string[]) =>
  (report: DeepSweepReport): unknown => ({
    ...report,
    // Nothing is left to examine of removed entries.
    entries: report.entries - (faults.includes("payload_missing") ? 1 : 0),
    faults: report.faults.filter(({ fault }) => !faults.includes(fault)),
  });

const declaring = async ({ transport }: Caller) => {
  const queue = defineQueue(QUEUE, { maxWorking: 7, maxPending: 90 });
  const report = await applyQueues(transport, [queue], { now });
  const [failed] = report.failed;
  if (failed) throw new SluiceError(failed.code as SluiceErrorCode, failed.message);
  return report;
};
// The two scripts of alerts. A pass that fails is made up for by the next one: test/features/alerts/sending.test.ts.
const alerts = { alerts: alertsKey() };
const beginning = async ({ transport }: Caller) => {
  const given = { testNow: String(now()), field: "~pass:1", token: "a", interval: "50000", size: "100" };
  const call = callOf(beginAlertsScript, alerts, given);
  return beginAlertsScript.decode(lastReply(await transport.send([call])));
};
const putting = (by: Caller) =>
  putRecords(
    [
      { field: QUEUE, was: "", record: "1;{}" },
      { field: "other", was: "1;{}", record: "" },
    ],
    { transport: by.transport, prefix: undefined, budget: 1_000, log: () => {} },
  );
const sweeping = ({ transport }: Caller) => sweep(transport, { now });
const deepSweeping = ({ transport }: Caller) => deepSweep(transport, { now, queue: QUEUE });
const settlements = (receipts: readonly string[]): Settlement[] => {
  const [a = "", b = "", c = "", d = "", e = ""] = receipts;
  return [
    { receipt: a, outcome: "complete", result: "done" },
    { receipt: b, outcome: "reject", error: "no" },
    { receipt: c, outcome: "requeue", delay: "1m" },
    { receipt: d, outcome: "requeue", unstarted: true },
    { receipt: e, outcome: "extend", lease: "2h" },
  ];
};

export const operations: readonly Operation[] = [
  ...enqueues,
  ...handOvers,
  ...ofKeys,
  ...ofOrder,
  ...ofFlows,
  { script: "register", call: (by) => by.queue().enqueue(1, { idempotencyKey: "k" }) },
  { script: "dequeue", call: async (by) => seen(await by.queue().dequeue({ idempotencyKey: "k" })) },
  {
    script: "dequeue",
    what: "of many, by a worker",
    call: async (by) => seen(await by.queue().dequeue({ max: 20, worker, idempotencyKey: "k" })),
  },
  {
    script: "dequeue",
    what: "that finds nothing, before there is something",
    async call(by) {
      const empty = by.queue({}, "empty");
      const nothing = await empty.dequeue();
      return [seen(nothing), await empty.enqueue("late", { id: "late", idempotencyKey: "k" })];
    },
  },
  { script: "settle", call: (by) => by.queue().settle(settlements(by.receipts)) },
  {
    script: "pause",
    call: (by) => {
      const [receipt = "", ...others] = by.receipts;
      return by
        .queue()
        .settle([
          { receipt, outcome: "requeue", delay: "1m", queue: true },
          ...others.map((other) => ({ receipt: other, outcome: "complete" }) as const),
        ]);
    },
  },
  {
    script: "settleAndDequeue",
    async call(by) {
      const { settled, tasks } = await by
        .queue()
        .settleAndDequeue(settlements(by.receipts), { max: 3, idempotencyKey: "k" });
      return [settled, seen(tasks)];
    },
  },
  { script: "cancel", what: "of a pending task", call: (by) => by.queue().cancel("p1") },
  { script: "cancel", what: "of a group's task", call: (by) => by.queue().cancel("f0") },
  { script: "cancel", what: "of a working task", call: (by) => by.queue().cancel("mine0") },
  {
    script: "sweep",
    call: sweeping,
    again: nothingLeft("promoted", "reclaimed", "rejected", "expired"),
  },
  {
    script: "sweep",
    what: "that wakes, and looks ahead",
    call: async (by) => {
      const later: unknown[] = [];
      const wakeAt = (...what: unknown[]) => later.push(what);
      const report = await sweep(by.transport, { now, wake: { ...by.wake, wakeAt } });
      return [report, by.woken.toSorted(), later.map(String).toSorted()];
    },
    // The wakes were lost. The next enqueue after the window, or the next sweep, sends others.
    again: ([report, , later]: [SweepReport, string[], unknown]) => [
      { ...report, promoted: 0, reclaimed: 0, rejected: 0, expired: 0, woken: 0 },
      [],
      later,
    ],
  },
  { script: "listQueues", what: "within a sweep", counts: true, call: sweeping },
  { script: "forgetDequeues", counts: true, call: sweeping },
  { script: "unregister", counts: true, call: sweeping },
  { script: "register", what: "within a sweep", counts: true, call: sweeping },
  { script: "dueSchedules", counts: true, call: sweeping },
  // A copy that finds the schedules changed leaves it to the next sweep to set the reminder.
  { script: "runSchedules", call: sweeping, again: nothingLeft("scheduled"), afterwards: sweeping },
  { script: "setReminder", what: "within a sweep", counts: true, call: sweeping },
  {
    script: "wake",
    call: async (by) => [await by.waking().wakeAnother(), by.woken],
    // The wake was lost; the next enqueue after the window, or the next sweep, sends another.
    again: () => [false, []],
  },
  { script: "get", call: (by) => by.queue().get("mine0") },
  { script: "count", call: (by) => by.queue().counts() },
  { script: "listQueues", call: (by) => listQueues(by.transport, { now }) },
  {
    script: "list",
    async call({ operator }) {
      const states = ["pending", "delayed", "working", "completed", "rejected"] as const;
      return Promise.all(states.map((state) => operator.list({ state, payloads: true })));
    },
  },
  { script: "remove", call: (by) => by.operator.remove("done1") },
  {
    script: "remove",
    what: "of a task that ended more than five minutes ago",
    call: (by) => by.operator.remove("ancient"),
    again: () => ({ ok: false, code: "not_found" }),
  },
  {
    script: "redrive",
    what: "by id",
    call: (by) => by.operator.redrive({ ids: ["dead0", { id: "dead1", lease: 4 }, "p1"] }),
  },
  {
    script: "redrive",
    what: "by id, that wakes",
    call: async (by) => [await by.wakingOperator().redrive({ ids: ["dead0", "dead1"] }), by.woken],
  },
  {
    script: "redrive",
    what: "in bulk",
    call: (by) => by.operator.redrive({ reason: "rejected", text: "no", rate: 10 }),
    again: nothingLeft("redriven"),
  },
  {
    script: "purge",
    what: "of what is pending, in several requests",
    call: (by) => by.operator.purge({ state: "pending" }),
    // The first call purged the three tasks behind the limit.
    again: (report: PurgeReport) => ({ ...report, purged: report.purged - 3 }),
  },
  {
    script: "purge",
    what: "of dead letters",
    call: (by) => by.operator.purge({ state: "rejected", text: "no" }),
    again: nothingLeft("purged"),
  },
  {
    script: "configure",
    call: (by) => by.operator.configure({ maxPending: 50, statistics: null }, { idempotencyKey: "k" }),
  },
  {
    script: "configure",
    what: "that pauses for a time",
    call: (by) => by.operator.pause({ for: "1m", idempotencyKey: "k" }),
  },
  {
    script: "configure",
    what: "of a group",
    call: (by) => by.operator.configureGroup("capped", { maxWorking: 2 }, { idempotencyKey: "k" }),
  },
  {
    script: "configure",
    what: "that wakes",
    call: async (by) => [
      await by.wakingOperator().configure({ maxWorking: 500 }, { idempotencyKey: "k" }),
      by.woken,
    ],
  },
  { script: "declare", what: "that begins to apply a declaration", call: declaring },
  { script: "declare", what: "that ends to apply a declaration", nth: 2, call: declaring, counts: true },
  ...ofPartitioning,
  ...ofEndpoints,
  ...ofQStash,
  ...ofTopics,
  { script: "beginAlerts", call: beginning },
  { script: "putRecords", call: putting },
  { script: "settings", call: (by) => by.operator.groupSettings("capped") },
  { script: "listGroups", call: (by) => by.operator.groups() },
  { script: "statistics", call: (by) => by.operator.statistics() },
  { script: "examine", call: (by) => measureQueues(by.transport, [QUEUE], 600_000, { now }) },
  { script: "deleteQueue", call: (by) => by.operator.deleteQueue({ force: true, idempotencyKey: "k" }) },
  {
    script: "unregister",
    what: "of a deleted queue",
    call: (by) => by.operator.deleteQueue({ force: true, idempotencyKey: "k" }),
  },
  { script: "heartbeat", call: (by) => by.queue().heartbeat(worker, { lease: "3h" }) },
  {
    script: "failWorker",
    call: (by) => by.operator.failWorker("w"),
    again: nothingLeft("returned", "rejected"),
  },
  {
    script: "failWorker",
    what: "that wakes",
    call: async (by) => [await by.wakingOperator().failWorker("w"), by.woken],
    // The next sweep makes up for the wake that was lost.
    again: ([failed]: [WorkerFailed, string[]]) => [{ ...failed, returned: 0, rejected: 0 }, []],
  },
  { script: "forgetWorker", call: (by) => by.operator.forgetWorker({ name: "idle" }) },
  { script: "forgetWorker", what: "that is refused", call: (by) => by.operator.forgetWorker(worker) },
  { script: "listWorkers", call: (by) => by.operator.workers() },
  {
    script: "putSchedule",
    what: "that reads",
    call: (by) => by.schedules.put("y", { every: "1h", payload: 1 }, { idempotencyKey: "k" }),
  },
  {
    script: "putSchedule",
    what: "that writes, between two reminders in one request",
    nth: 2,
    call: (by) => by.schedules.put("x", { every: "1h", payload: 1 }, { idempotencyKey: "k" }),
  },
  {
    script: "setReminder",
    what: "before and after a schedule is written",
    call: (by) => by.schedules.pause("x", { idempotencyKey: "k" }),
  },
  {
    script: "putSchedule",
    what: "that removes",
    call: (by) => by.schedules.remove("x", { idempotencyKey: "k" }),
  },
  { script: "listSchedules", call: (by) => by.schedules.get("x") },
  { script: "check", what: "of a sound queue", call: deepSweeping },
  { script: "check", damaged: true, call: deepSweeping },
  { script: "scan", damaged: true, call: deepSweeping, again: untold("payload_missing") },
  { script: "blankDuplicates", damaged: true, call: deepSweeping, again: untold("two_places") },
  { script: "placeLost", damaged: true, call: deepSweeping, again: untold("place_missing") },
  { script: "recountGroups", damaged: true, call: deepSweeping, again: untold("group_wrong") },
  { script: "repairControl", damaged: true, call: deepSweeping, again: untold("control_broken") },
];
