import { invalidArgument, SluiceError } from "../../errors.ts";
import { DeepPass, FIRST, isPlace, type Findings, type Stand } from "./deep-pass.ts";
import { callOf } from "../redis/binding.ts";
import { endOf, type Duration } from "../core/duration.ts";
import type { Fault } from "../core/faults.ts";
import { queueKeys } from "../core/keys.ts";
import { onlyOptions, queueName, wholeNumber } from "../core/validation.ts";
import { listQueues } from "../sweep/registry.ts";
import { checkScript } from "../redis/repair-scripts.ts";
import { ScheduleRepair } from "./schedule-repair.ts";
import { checkedTransport, type Transport } from "../redis/transport.ts";

export interface DeepSweepOptions {
  /** When to stop and give a cursor; a step that was begun is finished. @default "20s" */
  readonly budget?: Duration | undefined;
  /** The cursor of an earlier report, to go on from there. @default from the beginning */
  readonly cursor?: string | undefined;
  /** @default "sluice" */
  readonly prefix?: string | undefined;
  /** One queue, registered or not: a failover may have lost the registry too. @default all registered ones */
  readonly queue?: string | undefined;
  /** Which of the registered queues. @default all */
  readonly queues?: ((name: string) => boolean) | undefined;
  /** How many ids are told of each fault in each queue, 0 to 1,000. @default 10 */
  readonly examples?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

const OPTIONS = ["budget", "cursor", "prefix", "queue", "queues", "examples", "signal", "now"];

/** What was found of one fault in one queue, and repaired. */
export interface FaultReport {
  readonly queue: string;
  readonly fault: Fault;
  readonly count: number;
  /** Some of the ids: of tasks, or names of groups, workers and control fields. */
  readonly ids: readonly string[];
}

export interface DeepSweepReport {
  /** How many queues were looked at to their end. */
  readonly queues: number;
  /** How many entries were looked at; a task is looked at wherever it stands. */
  readonly entries: number;
  /** Empty where everything is sound. */
  readonly faults: readonly FaultReport[];
  /** Queues that could not be looked at, or not to their end. */
  readonly failed: readonly { readonly queue: string; readonly code: string }[];
  /** Where to go on; null where all has been looked at. */
  readonly cursor: string | null;
}

/** How many queues one request glances at. */
const QUEUES_PER_REQUEST = 50;

/** What a queue's own state can cause; whatever else is thrown concerns the way to Redis. */
const OF_ONE_QUEUE: readonly string[] = [
  "redis_error",
  "newer_schema",
  "queue_full",
  "unexpected_reply",
  "unsupported",
];

/**
 * Looks for whatever contradicts itself in queues, as a failover leaves it where keys went back in time one by one,
 * repairs it, and reports what it found. Tasks without a place get one, tasks in two places keep one, leases
 * that are gone are taken back, unreadable records are set aside, counts are corrected. It works beside live
 * traffic and other deep sweeps; what is valid stays as it is.
 *
 * A small queue without faults costs at most 20 Redis commands; 50 such queues go in one request. Other queues
 * cost about 5 commands for each 100 tasks, 15 if the tasks have groups. A resent call repairs nothing twice,
 * and reports what its own copy found.
 * @throws {SluiceError} where Redis cannot be reached; a fault of one queue is in the report
 */
export async function deepSweep(
  transport: Transport,
  options: DeepSweepOptions = {},
): Promise<DeepSweepReport> {
  onlyOptions(options, OPTIONS);
  const deadline = endOf(options.budget);
  const timeIsUp = () => performance.now() >= deadline;
  const start = readCursor(options.cursor);
  if (options.queue !== undefined && start !== undefined && start.queue !== options.queue) {
    throw invalidArgument("cursor", "must be one that a report of that queue gave");
  }
  const names =
    options.queue === undefined ? await registered(transport, options) : [queueName(options.queue)];
  const report = new Report(wholeNumber(options.examples ?? 10, "examples", 0, 1_000));
  const rest = names.filter((name) => start === undefined || name >= start.queue);
  for (let first = 0; first < rest.length; first += QUEUES_PER_REQUEST) {
    const page = rest.slice(first, first + QUEUES_PER_REQUEST);
    if (report.begun > 0 && timeIsUp()) return report.done(writeCursor(page[0] ?? "", FIRST));
    const begun = start !== undefined && !isFirst(start.stand) ? start.queue : undefined;
    const glances = await glanceAt(
      transport,
      page.filter((name) => name !== begun),
      options,
    );
    for (const name of page) {
      const glance = glances.get(name);
      // A queue without faults takes no more time.
      if (glance?.sound !== true && report.begun > 0 && timeIsUp()) {
        return report.done(writeCursor(name, FIRST));
      }
      const stand = start?.queue === name ? start.stand : FIRST;
      const left = await sweepQueue(transport, name, stand, glance, options, report, timeIsUp);
      if (left !== null) return report.done(writeCursor(name, left));
    }
  }
  return report.done(null);
}

interface Glance {
  readonly sound: boolean;
  readonly entries: number;
  readonly scheduled: boolean;
}

/** Glances at queues, in one request. A queue whose glance failed is left out. */
async function glanceAt(
  transport: Transport,
  names: readonly string[],
  { prefix, now, signal }: DeepSweepOptions,
): Promise<Map<string, Glance>> {
  const glances = new Map<string, Glance>();
  if (names.length === 0) return glances;
  const testNow = now ? String(now()) : "";
  const calls = names.map((name) => callOf(checkScript, queueKeys(name, prefix), { testNow }));
  const outcomes = await checkedTransport(transport).send(calls, { signal });
  for (const [i, name] of names.entries()) {
    const outcome = outcomes[i];
    if (!outcome || !("reply" in outcome)) continue;
    try {
      glances.set(name, checkScript.decode(outcome.reply));
    } catch {
      // The pass through the queue reports what is wrong.
    }
  }
  return glances;
}

async function sweepQueue(
  transport: Transport,
  name: string,
  from: Stand,
  glance: Glance | undefined,
  { prefix, now, signal }: DeepSweepOptions,
  report: Report,
  timeIsUp: () => boolean,
): Promise<Stand | null> {
  const findings = report.begin(name);
  try {
    if (glance?.sound === true) {
      findings.looked(glance.entries);
    } else {
      const pass = new DeepPass(name, { transport, prefix, now, signal }, findings);
      const left = await pass.goOn(from, timeIsUp);
      if (left !== null) return left;
    }
    if (glance?.scheduled !== false) {
      const repair = new ScheduleRepair(name, { transport, prefix, now, signal }, findings);
      await repair.repair(glance?.sound === true);
    }
    report.queues++;
    return null;
  } catch (error) {
    if (!(error instanceof SluiceError) || !OF_ONE_QUEUE.includes(error.code)) throw error;
    report.failed.push({ queue: name, code: error.code });
    return null;
  }
}

/** All registered queues that are wanted, in order of their names: a cursor can then name one. */
async function registered(transport: Transport, options: DeepSweepOptions): Promise<string[]> {
  const { prefix, signal, now, queues = () => true } = options;
  const names = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await listQueues(transport, { prefix, signal, now, cursor, size: 1_000 });
    for (const { name } of page.queues) if (queues(name)) names.add(name);
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return [...names].toSorted((a, b) => (a < b ? -1 : 1));
}

class Report {
  queues = 0;
  begun = 0;
  readonly failed: { queue: string; code: string }[] = [];
  readonly #examples: number;
  readonly #faults = new Map<string, FaultReport & { count: number; ids: string[] }>();
  #entries = 0;

  constructor(examples: number) {
    this.#examples = examples;
  }

  begin(queue: string): Findings {
    this.begun++;
    return {
      looked: (entries) => (this.#entries += entries),
      found: (fault, id) => {
        const known = this.#faults.get(`${queue} ${fault}`) ?? { queue, fault, count: 0, ids: [] };
        this.#faults.set(`${queue} ${fault}`, known);
        known.count++;
        const shown = printable(id);
        if (known.ids.length < this.#examples && !known.ids.includes(shown)) known.ids.push(shown);
      },
    };
  }

  done(cursor: string | null): DeepSweepReport {
    const { queues, failed } = this;
    return { queues, entries: this.#entries, faults: [...this.#faults.values()], failed, cursor };
  }
}

const isFirst = ({ place, scan }: Stand) => place === FIRST.place && scan === FIRST.scan;

/** What stands where an id should may be anything. */
function printable(id: string): string {
  return id.slice(0, 140).replace(/[^ -~]/g, "?");
}

function writeCursor(queue: string, { place, scan }: Stand): string {
  return `${queue}/${place}/${scan}`;
}

function readCursor(cursor: string | undefined): { queue: string; stand: Stand } | undefined {
  if (cursor === undefined) return undefined;
  const [, queue, place, scan] = /^([\w.-]+)\/([\w-]+)\/(\d{1,20})$/.exec(cursor) ?? [];
  if (queue === undefined || place === undefined || scan === undefined || !isPlace(place)) {
    throw invalidArgument("cursor", "must be one that an earlier report gave");
  }
  return { queue: queueName(queue, "cursor"), stand: { place, scan } };
}
