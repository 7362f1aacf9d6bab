/** One call of the library for each script, and its answer if its first copy has run without an answer. */
import {
  applyQueues,
  deepSweep,
  defineQueue,
  listQueues,
  SluiceError,
  sweep,
  type DeepSweepReport,
  type NewTask,
  type PurgeReport,
  type Settlement,
  type SluiceErrorCode,
  type SweepReport,
  type WorkerFailed,
} from "../../../src/index.ts";
import { putRecords } from "../../../src/features/alerts/records.ts";
import { alertsKey, mapsKey, plainKeys, queueKeys, registryKey } from "../../../src/kernel/names/keys.ts";
import { beginAlertsScript } from "../../../src/features/alerts/alert-scripts.ts";
import { measureQueues } from "../../../src/operate/health/measure.ts";
import { callOf, type Binding } from "../../../src/kernel/scripts/binding.ts";
import * as partitions from "../../../src/features/partitions/partition-scripts.ts";
import * as turns from "../../../src/features/partitions/turn-scripts.ts";
import * as upkeep from "../../../src/features/partitions/upkeep-scripts.ts";
import { lastReply } from "../../../src/kernel/scripts/replies.ts";
import { seen } from "../../support/day.ts";
import { byBothScripts } from "../../support/plain-enqueue.ts";
import { QUEUE, START } from "../../support/rig.ts";
import { now, worker, type Caller } from "./starting-point.ts";

export interface Operation {
  /** The name of the script that the fault is for. */
  readonly script: string;
  /** What else to say of the call in its title. */
  readonly what?: string;
  readonly call: (by: Caller) => Promise<unknown>;
  /** Which of the requests with that script meets the fault. @default 1 */
  readonly nth?: number;
  /** True if the queue's keys are damaged before. */
  readonly damaged?: boolean;
  /** Makes the answer after an earlier copy has run from the usual one. @default the same (law 5) */
  readonly again?: (answer: never) => unknown;
  /** True if the answer counts what this call did, so that a repeated call counts only the rest. */
  readonly counts?: boolean;
  /** What to do after a call whose first copy ran without an answer, before the keys are the usual ones. */
  readonly afterwards?: (by: Caller) => Promise<unknown>;
}

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
/** One call of a script of partitions. */
const ofPartitions =
  <const B extends Binding>(
    binding: B,
    args: Parameters<typeof callOf<B>>[2],
    items: Parameters<typeof callOf<B>>[3] = [],
  ) =>
  async ({ transport }: Caller): Promise<unknown> => {
    const keys = {
      ...queueKeys(QUEUE),
      ...plainKeys(queueKeys(QUEUE)),
      queues: registryKey(),
      maps: mapsKey(),
    };
    const call = callOf<Binding>(binding, { ...keys, alerts: alertsKey() }, args, items);
    return binding.decode(lastReply(await transport.send([call])));
  };
/** All foreign names, sorted: the order of HSCAN, and what is in a page, change while Redis rehashes. */
async function foreign(by: Caller): Promise<string[]> {
  const names = new Set<string>();
  let cursor = "0";
  do {
    const page = (await ofPartitions(upkeep.findForeignScript, {
      cursor,
      size: "100",
      before: String(START + 1e9),
    })(by)) as ReturnType<typeof upkeep.findForeignScript.decode>;
    for (const name of page.names) names.add(name);
    ({ cursor } = page);
  } while (cursor !== "0");
  return [...names].toSorted();
}
const at = { testNow: String(now()) };
const sweeping = ({ transport }: Caller) => sweep(transport, { now });
const deepSweeping = ({ transport }: Caller) => deepSweep(transport, { now, queue: QUEUE });
const someTasks: readonly NewTask<unknown>[] = [
  { payload: 1 },
  { id: "new", payload: 2, group: "capped" },
  { id: "done-1", payload: 3, again: true },
  { id: "p1", payload: 4 },
  { payload: 5, delay: "1h", priority: 3 },
  { payload: 6, dedup: { key: "other", window: "1h" } },
];
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
  { script: "enqueue", call: (by) => by.queue().enqueueMany(someTasks, { idempotencyKey: "k" }) },
  {
    script: "enqueue",
    what: "of one task alone",
    nth: 2,
    async call(by) {
      const queue = by.queue();
      const first = await queue.enqueue(1, { idempotencyKey: "first" });
      return [first, await queue.enqueue(2, { idempotencyKey: "k" })];
    },
  },
  {
    script: "enqueue",
    what: "that wakes",
    call: async (by) => [await by.waking().enqueue(1, { idempotencyKey: "k" }), by.woken],
  },
  {
    script: "enqueuePlain",
    call: ({ transport }) =>
      byBothScripts(transport, queueKeys(QUEUE), [{ id: "plain", record: ";t=k\nj1" }], at),
  },
  {
    script: "enqueuePlain",
    what: "of several tasks, that wakes",
    call: ({ transport }) =>
      byBothScripts(
        transport,
        queueKeys("empty"),
        [
          { id: "one", record: ";t=k\nj1" },
          { id: "two", record: "\nj2" },
        ],
        { ...at, wake: "60000" },
      ),
  },
  {
    script: "enqueuePlain",
    what: "that leaves it to enqueue",
    call: ({ transport }) =>
      byBothScripts(transport, queueKeys(QUEUE), [{ id: "p1", record: ";t=k\nj1" }], at),
  },
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
  // Whole rebalances, with callers that die: test/features/partitions/shares.test.ts.
  {
    script: "setShares",
    call: ofPartitions(upkeep.setSharesScript, {
      testNow: String(now()),
      version: "7",
      maxWorking: "3",
      rate: "9/1000",
      maxPending: "0",
      wake: "",
    }),
  },
  {
    script: "putShares",
    call: ofPartitions(upkeep.putSharesScript, { was: "", shares: "1;7;1;0;m=3,0,3" }),
  },
  { script: "beginAlerts", call: beginning },
  { script: "putAlerts", call: putting },
  {
    script: "ownSlots",
    call: ofPartitions(partitions.ownSlotsScript, { version: "1", owned: "f".repeat(64) }),
  },
  {
    script: "askFormer",
    call: ofPartitions(
      partitions.askFormerScript,
      { testNow: String(now()), wake: "60000", refuseEach: "1" },
      [
        { id: "dead0", when: "", unique: "again", record: ";t=k;G=capped\nj1" },
        { id: "done1", when: "", unique: "again", record: ";t=k\nj2" },
        { id: "p1", when: "", unique: "", record: ";t=k\nj3" },
        { id: "unknown", when: "", unique: "60000 key", record: ";t=k\nj4" },
      ],
    ),
  },
  { script: "renameKeys", call: ofPartitions(partitions.renameKeysScript, { count: "4" }) },
  {
    script: "putMap",
    call: ofPartitions(partitions.putMapScript, { queue: QUEUE, was: "", map: "1;1", partitions: "2" }),
  },
  { script: "head", call: ofPartitions(turns.headScript, {}) },
  {
    script: "listWork",
    call: ofPartitions(turns.listWorkScript, { testNow: String(now()) }, [{ name: QUEUE }]),
  },
  {
    script: "setIdle",
    call: ofPartitions(turns.setIdleScript, {}, [
      { name: "gone", seen: String(START - 7_200_000), idle: "-1" },
    ]),
    again: () => 0,
  },
  {
    script: "findForeign",
    call: foreign,
  },
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
