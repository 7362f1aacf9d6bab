import { expect, test } from "vitest";
import { healthyQueue, keyFindings } from "../../../src/cli/doctor/keys.ts";
import type { DatabaseDiagnostics } from "../../../src/operate/diagnostics.ts";
import type { QueueFacts } from "../../../src/operate/health/facts.ts";
import { clockFinding, databaseFindings } from "../../../src/operate/health/database-findings.ts";
import { queueFindings } from "../../../src/operate/health/queue-findings.ts";
import { byAbout } from "../../cli/findings.ts";

const NOW = 1e12;
const MINUTE = 60_000;

test("the advice for slow, old, full and silent Redises, and clocks that differ", () => {
  const silent = { version: null, evictionPolicy: null, usedMemory: null, maxMemory: null, appendOnly: null };
  const state = { now: NOW, roundTrip: 1, ...silent };
  const findings = (changed: Partial<DatabaseDiagnostics>) =>
    byAbout(databaseFindings({ ...state, ...changed }));
  expect(findings({})).toEqual({
    Redis: ["ok", "scripts run; 1 ms a call", undefined],
    version: ["unknown", "Redis does not report it", undefined],
    eviction: ["unknown", "Redis does not report it", expect.stringContaining("Eviction is off")],
    memory: ["unknown", "Redis does not report it", undefined],
    durability: ["unknown", "Redis does not report it", undefined],
  });
  expect(findings({ version: "6.0.9", roundTrip: 200 })).toMatchObject({
    Redis: ["ok", "scripts run; 200 ms a call", undefined],
    version: ["problem", "6.0.9", "Sluice needs Redis 7.0 or later"],
  });
  expect(findings({ version: "8.0.0", roundTrip: 201 })).toMatchObject({
    Redis: ["warning", "scripts run; 201 ms a call", expect.any(String)],
    version: ["ok", "8.0.0", undefined],
  });
  const memory = (used: number) => findings({ usedMemory: used * 1e6, maxMemory: 100e6 })["memory"];
  expect([79, 81, 96].map(memory)).toEqual([
    ["ok", "79 MB used of 100 MB", undefined],
    ["warning", "81 MB used of 100 MB", expect.stringContaining("(queue_full)")],
    ["problem", "96 MB used of 100 MB", expect.stringContaining("(queue_full)")],
  ]);
  const clock = (ahead: number) => {
    const { status, found } = clockFinding(NOW, NOW + ahead, "this machine");
    return [status, found];
  };
  expect([5_000, 90_000, -6_000].map(clock)).toEqual([
    ["ok", "this machine and Redis agree"],
    ["warning", "this machine is 1m 30s ahead of Redis"],
    ["warning", "this machine is 6s behind Redis"],
  ]);
});

const facts: QueueFacts = {
  queue: "emails",
  now: NOW,
  leases: 0,
  pending: 1,
  delayed: 0,
  blocked: 0,
  working: 0,
  rejected: 0,
  oldestAge: 10 * MINUTE,
  nextDueAt: NOW - 180_000,
  broken: 0,
  workers: 0,
  paused: false,
  stoppedGroups: 0,
  pausedUntil: null,
  settings: {
    paused: false,
    pausedUntil: null,
    maxWorking: null,
    rate: null,
    maxPending: null,
    events: false,
    statistics: false,
    order: null,
    onDead: "continue",
  },
  work: { since: null, lease: 0 },
  attempts: { tried: 0, failed: 0, since: 0, lastAt: 0, id: "", error: undefined, workingError: undefined },
  requeued: { attempts: 0, since: 0 },
  completedAt: 0,
  isCompletionKnown: false,
  lastTakenAt: undefined,
  lastEndedAt: undefined,
  workerSeenAt: null,
  lostWorkers: [],
  expiring: [],
  expired: { leases: 0, minutes: 0, lastAt: 0 },
  limited: 0,
  groups: [],
  lateSchedules: { count: 0, first: [] },
  pausedSchedules: [],
  newDeadLetters: { count: 0, firstAt: 0, lastAt: 0 },
};

const waits = { oldestAge: 60 * MINUTE };
/** One that works for so many minutes. */
const works = (minutes: number, lease = 5) => ({
  working: 1,
  work: { since: NOW - minutes * MINUTE, lease: lease * MINUTE },
});
/** So many tasks that were tried, and those of them that failed, the first so many minutes ago. */
const fails = (tried: number, failed: number, minutes: number) => ({
  lastTakenAt: NOW,
  attempts: { ...facts.attempts, tried, failed, since: ago(minutes), lastAt: ago(1), id: "t1" },
});
const ago = (minutes: number) => NOW - minutes * MINUTE;
const group = {
  group: "g",
  paused: false,
  pausedUntil: null,
  rate: null,
  working: 1,
  limited: 1,
  oldestAt: ago(11),
};

test.each<[changed: Partial<QueueFacts>, ...expected: (readonly [code: string, status: string])[]]>([
  [{}],
  [{ broken: 2 }, ["broken_entries", "problem"]],
  [{ paused: true, ...waits }, ["paused", "warning"]],
  [waits, ["no_consumer", "problem"]],
  [{ ...waits, pending: 0 }],
  [{ ...waits, limited: 1 }],
  [{ ...waits, workers: 1, workerSeenAt: ago(10) }, ["nothing_taken", "problem"]],
  [{ ...waits, workers: 1, workerSeenAt: ago(11) }, ["no_consumer", "problem"]],
  [{ ...waits, lastTakenAt: ago(10) }],
  [{ ...waits, lastTakenAt: ago(11) }, ["no_consumer", "problem"]],
  [{ ...waits, ...works(5) }, ["nothing_taken", "unknown"]],
  [{ ...waits, ...works(5), lastTakenAt: ago(11) }, ["nothing_taken", "problem"]],
  [works(10)],
  // Whether others end is of no interest while no task waits.
  [works(11)],
  [{ ...waits, ...works(11) }, ["nothing_ends", "unknown"]],
  [{ ...works(11), lastTakenAt: ago(11) }, ["nothing_ends", "warning"]],
  [{ ...waits, ...works(11), lastTakenAt: ago(11) }, ["nothing_ends", "problem"]],
  [{ ...works(11, 30), lastTakenAt: ago(11) }],
  [{ ...works(31, 30), lastTakenAt: ago(31) }, ["nothing_ends", "warning"]],
  [{ ...works(60), lastTakenAt: ago(60), lastEndedAt: ago(10) }],
  [{ ...works(60), lastTakenAt: ago(5), lastEndedAt: ago(11) }, ["nothing_ends", "warning"]],
  // It was reclaimed, or will be.
  [{ ...works(60), lastTakenAt: ago(60), nextDueAt: NOW - 180_001 }, ["not_swept", "problem"]],
  [{ ...works(60), lastTakenAt: ago(60), paused: true }, ["paused", "warning"], ["nothing_ends", "warning"]],
  [{ ...waits, ...works(5), settings: { ...facts.settings, maxWorking: 1 } }, ["queue_at_limit", "warning"]],
  [{ ...waits, settings: { ...facts.settings, rate: { most: 1, per: 30 * MINUTE } }, lastTakenAt: ago(30) }],
  [fails(2, 2, 5), ["attempts_fail", "warning"]],
  [fails(5, 2, 5)],
  [fails(1, 1, 60)],
  [fails(2, 2, 0.9)],
  [fails(2, 2, 11), ["attempts_fail", "problem"]],
  [{ ...waits, ...fails(3, 2, 5) }, ["attempts_fail", "problem"]],
  [{ ...waits, ...fails(3, 2, 5), completedAt: ago(10) }],
  [{ ...fails(3, 2, 11), completedAt: ago(11) }, ["attempts_fail", "problem"]],
  [
    { lastTakenAt: NOW, pending: 41, requeued: { attempts: 2, since: ago(5) }, isCompletionKnown: true },
    ["attempts_fail", "warning"],
  ],
  [{ lastTakenAt: NOW, pending: 40, requeued: { attempts: 2, since: ago(5) }, isCompletionKnown: true }],
  // Completed after the last failure, which was long ago.
  [{ attempts: { ...fails(2, 2, 60).attempts, lastAt: ago(40) }, completedAt: ago(30) }],
  [{ lostWorkers: [{ name: "w", failedAt: ago(1) }] }, ["worker_lost", "warning"]],
  [{ expiring: [{ id: "t1", leases: 2 }] }, ["leases_expire", "warning"]],
  [{ expired: { leases: 50, minutes: 1, lastAt: NOW } }],
  [{ expired: { leases: 9, minutes: 2, lastAt: ago(3) } }, ["leases_expire", "warning"]],
  [{ expired: { leases: 50, minutes: 2, lastAt: ago(4) } }],
  [{ expired: { leases: 10, minutes: 2, lastAt: NOW } }, ["leases_expire", "problem"]],
  // What made them expire may be gone, unless one of these tasks is working.
  [{ expired: { leases: 10, minutes: 2, lastAt: ago(1.9) } }, ["leases_expire", "problem"]],
  [{ expired: { leases: 10, minutes: 2, lastAt: ago(2) } }, ["leases_expire", "warning"]],
  [
    { expired: { leases: 10, minutes: 2, lastAt: ago(2) }, expiring: [{ id: "t1", leases: 2 }] },
    ["leases_expire", "problem"],
  ],
  [{ limited: 1, groups: [{ ...group, maxWorking: 1 }] }, ["group_at_limit", "warning"]],
  [{ limited: 1, groups: [{ ...group, maxWorking: 1, oldestAt: ago(10) }] }],
  [
    { limited: 1, groups: [{ ...group, paused: true, maxWorking: null, oldestAt: NOW }] },
    ["group_paused", "warning"],
  ],
  [{ lateSchedules: { count: 1, first: [{ name: "a", at: ago(4) }] } }, ["schedule_failing", "problem"]],
  [
    { pausedSchedules: [{ name: "a", at: ago(3), skipped: { count: 0, lastAt: 0 } }] },
    ["schedule_paused", "warning"],
  ],
  [{ rejected: 1 }, ["dead_letters", "warning"]],
  [
    { rejected: 9, newDeadLetters: { count: 9, firstAt: NOW, lastAt: NOW } },
    ["dead_letters_rising", "warning"],
  ],
  [
    { rejected: 10, newDeadLetters: { count: 10, firstAt: NOW, lastAt: NOW } },
    ["dead_letters_rising", "problem"],
  ],
])("of a queue with %j it finds %j", (changed, ...expected) => {
  const found = queueFindings({ ...facts, ...changed }, 10 * MINUTE);
  expect(found.map(({ code, status }) => [code, status])).toEqual(expected);
});

const diagnostics = { queue: "emails", fields: 9, bytes: 900, valid: true, entries: 1 };
const size = (megabytes: number) => `its tasks have about ${megabytes} MB; Upstash allows 100 MB a key`;
const purge = expect.stringContaining("sluice purge emails --state completed");

test.each([
  [{}, []],
  [{ bytes: 79e6 }, []],
  [{ bytes: 85e6 }, [["warning", size(85), purge]]],
  [{ bytes: 96e6 }, [["problem", size(96), purge]]],
  [
    { valid: false },
    [
      [
        "warning",
        "it has a fault, cannot be read, or a later release of Sluice wrote some of it",
        "sluice sweep --deep --queue emails",
      ],
    ],
  ],
])("of keys with %j doctor says %j", (changed, expected) => {
  const found = keyFindings({ ...diagnostics, ...changed }, false);
  expect(found.map(({ status, found: text, advice }) => [status, text, advice])).toEqual(expected);
});

test("of keys with a fault that was repaired doctor says nothing", () => {
  expect(keyFindings({ ...diagnostics, valid: false }, true)).toEqual([]);
});

test.each([
  [{}, "about 1 KB"],
  [{ bytes: null }, "9 fields"],
  // Of many entries not every one was checked, which is no fault.
  [{ valid: null }, "about 1 KB"],
])("of a sound queue with keys of %j doctor says %s", (changed, text) => {
  const keys = { ...diagnostics, ...changed };
  expect(keyFindings(keys, false)).toEqual([]);
  expect(healthyQueue({ queue: "emails", pending: 1, working: 0 }, keys)).toEqual({
    status: "ok",
    code: "queue",
    about: "emails",
    found: `1 pending, 0 working, ${text}`,
  });
});
