import { newToken } from "../../kernel/names/ids.ts";
import { alertsKey } from "../../kernel/names/keys.ts";
import { slicesOf } from "../../kernel/slices.ts";
import { beginAlertsScript } from "./alert-scripts.ts";
import { callOf } from "../../kernel/scripts/binding.ts";
import { lastReply } from "../../kernel/scripts/replies.ts";
import { registryKey } from "../../kernel/names/keys.ts";
import { InstanceMemory } from "../../kernel/instance-memory.ts";
import { readRegistry, queuesOf } from "../../sweep/registry.ts";
import { deliver } from "./deliver.ts";
import { disabledEndpoints } from "./measure-endpoints.ts";
import { findingsOfDatabase } from "./measure-findings.ts";
import { measure, type MeasuredQueue, type Since } from "./measure.ts";
import { PassWork, type PassRules } from "./pass-work.ts";
import { putRecords, readRecords } from "./records.ts";
import { namedQueues, rulesOf, rulesOfDatabase, type CheckedRule, type WatchedQueue } from "./rules.ts";
import { DATABASE, readPass, roundBeforeOf } from "./state.ts";
import type { PassContext } from "./types.ts";

/** No pass begins sooner after the one before, ms. Less than a minute, because crons are not punctual. */
const INTERVAL = 50_000;

/** About how many queues a pass visits. Those beyond have their turn in the next passes. */
const QUEUES_PER_PASS = 1_000;

/** Queues measured in one request. */
const QUEUES_PER_REQUEST = 50;

/** About how many open alerts a pass visits. Their queues may have left the registry. */
const OPEN_PER_PASS = 100;

/**
 * Runs one pass: evaluates the rules for each queue, and sends what has changed. Does nothing if another pass of
 * the same rules began within the last 50 s.
 * @throws {SluiceError} if Redis cannot be reached
 */
export async function runPass(configured: PassRules, context: PassContext): Promise<void> {
  const { rules, channels, field } = configured;
  const start = performance.now();
  const end = start + context.budget;
  const begun = await begin(field, context);
  if (begun.record === undefined) return;
  const pass = readPass(begun.record);
  const named = namedQueues(rules);
  const page = named ? { names: named, cursor: null } : await registered(pass.cursor, context);

  const open = [...new Set(begun.fields)];
  const queues = watched([...page.names, ...open.filter((name) => !name.startsWith("~"))], rules);
  const ofDatabase = rulesOfDatabase(rules);
  const oldPasses = open.filter((name) => name.startsWith("~pass:"));
  const roundBefore = roundBeforeOf(pass);
  const since: Since = (within) => Math.min(begun.now - within, roundBefore ?? begun.now);
  // If the registry was read, it shows whether any queue is divided.
  const divided = named !== undefined || seen.get(context.transport, registryKey(context.prefix)) === true;
  const database = ofDatabase.length > 0 || open.includes(DATABASE) ? [DATABASE] : [];
  const [records, measured, findings, disabled] = await Promise.all([
    readRecords([...queues.map(({ name }) => name), ...oldPasses, ...database], context),
    measureAll(queues, since, end, { ...context, divided }),
    findingsOfDatabase(ofDatabase, context),
    disabledEndpoints(ofDatabase, context),
  ]);

  const now = context.now ? context.now() : begun.now + Math.round(performance.now() - start);
  const work = new PassWork(configured, now, context.log);
  for (const queue of measured.reached) {
    work.decide(queue, measured.found.get(queue.name), records.get(queue.name) ?? "");
  }
  for (const field of database) {
    const found = { lacksStatistics: false, findings, ...(disabled && { disabled }) };
    work.decide({ name: field, rules: ofDatabase }, found, records.get(field) ?? "");
  }
  for (const old of oldPasses) work.removeOldPass(old, records.get(old) ?? "");
  // Without time for all its queues, the next pass visits this page again, in another order.
  if (measured.reached.length === queues.length) work.moveOn(pass, page.cursor, begun.record);
  const sending = work.claimed(await putRecords(work.changes, context));
  if (sending.length === 0) return;
  const within = Math.max(0, end - performance.now());
  const left = await deliver(sending, channels, { within, signal: context.signal, log: context.log });
  await putRecords(work.confirmations(left), context);
}

async function begin(field: string, { transport, prefix, signal, now }: PassContext) {
  const given = { field, token: newToken(), interval: String(INTERVAL), size: String(OPEN_PER_PASS) };
  const testNow = now ? String(now()) : "";
  const call = callOf(beginAlertsScript, { alerts: alertsKey(prefix) }, { testNow, ...given });
  return beginAlertsScript.decode(lastReply(await transport.send([call], { signal })));
}

/** Whether a page of the registry has shown this instance that there are queues with partitions. */
const seen = new InstanceMemory<true>();

async function registered(cursor: string | undefined, { transport, prefix, signal, now }: PassContext) {
  const page = await readRegistry(transport, { prefix, signal, now, cursor, size: QUEUES_PER_PASS });
  const names = queuesOf(page.queues).map(({ name }) => name);
  if (page.divided.length > 0) seen.set(transport, registryKey(prefix), true);
  return { names, cursor: page.cursor };
}

/** The queues that a rule watches, each once. */
function watched(names: readonly string[], rules: readonly CheckedRule[]): WatchedQueue[] {
  const all = [...new Set(names)].map((name) => ({ name, rules: rulesOf(rules, name) }));
  return all.filter((queue) => queue.rules.length > 0);
}

/** Measures until the time is over. It begins anywhere, so that passes without enough time reach different queues. */
async function measureAll(
  queues: readonly WatchedQueue[],
  since: Since,
  end: number,
  context: Parameters<typeof measure>[2],
) {
  const found = new Map<string, MeasuredQueue>();
  const reached: WatchedQueue[] = [];
  const first = Math.floor(Math.random() * queues.length);
  for (const slice of slicesOf([...queues.slice(first), ...queues.slice(0, first)], QUEUES_PER_REQUEST)) {
    if (performance.now() >= end) break;
    for (const [name, measured] of await measure(slice, since, context)) found.set(name, measured);
    reached.push(...slice);
  }
  return { found, reached };
}
