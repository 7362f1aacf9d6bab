import { slicesOf } from "../../kernel/slices.ts";
import { nearestName } from "../../nearest-name.ts";
import type { Transport } from "../../kernel/transport.ts";
import type { ListQueuesOptions } from "../../sweep/registry.ts";
import { databaseDiagnostics } from "../diagnostics.ts";
import type { DatabaseCode } from "./codes.ts";
import { clockFinding, connectionFinding, databaseFindings } from "./database-findings.ts";
import type { Finding } from "./finding.ts";
import { measureQueues } from "./measure.ts";
import type { QueueFinding } from "./queue-finding.ts";
import { queueFindings, unreadable } from "./queue-findings.ts";

/** How many queues without a consumer are compared with the names of the others. */
const MOST_COMPARED = 10;

/** How many queues are measured in one request. */
const SLICE = 50;

type ExamineOptions = Pick<ListQueuesOptions, "prefix" | "signal" | "now">;

/** What is wrong with a queue. It has counts if the queue could be read. */
export interface ExaminedQueue {
  readonly queue: string;
  readonly findings: readonly QueueFinding[];
  readonly counts: { readonly pending?: number; readonly working?: number };
  /** The number of the last lease; undefined if the queue could not be read. */
  readonly leases?: number;
}

/**
 * Finds what is wrong with queues, in a request for each fifty.
 * @param after how long a queue may be stuck, ms
 * @returns in the order of the names
 * @throws {SluiceError} if Redis cannot be reached
 */
export async function examineQueues(
  transport: Transport,
  names: readonly string[],
  after: number,
  options: ExamineOptions,
): Promise<ExaminedQueue[]> {
  const examined: ExaminedQueue[] = [];
  for (const slice of slicesOf(names, SLICE)) {
    for (const one of await measureQueues(transport, slice, after, options)) {
      const { queue } = one;
      if ("code" in one) examined.push({ queue, findings: [unreadable(queue, one.code)], counts: {} });
      else {
        const { pending, working, leases } = one;
        examined.push({ queue, findings: queueFindings(one, after), counts: { pending, working }, leases });
      }
    }
  }
  return withMeant(examined);
}

/** Asks of a queue without a consumer, whose name may be misspelt, whether a similar one was meant. */
function withMeant(examined: readonly ExaminedQueue[]): ExaminedQueue[] {
  const isAlone = ({ code }: QueueFinding) => code === "no_consumer";
  const others = examined.filter(({ findings }) => !findings.some(isAlone)).map(({ queue }) => queue);
  let compared = 0;
  return examined.map((one) => {
    if (!one.findings.some(isAlone) || compared++ >= MOST_COMPARED) return one;
    // Numbered queues have similar names.
    const unlike = others.filter((name) => withoutDigits(name) !== withoutDigits(one.queue));
    const meant = nearestName(one.queue, unlike);
    if (meant === undefined) return one;
    const advised = (finding: QueueFinding): QueueFinding =>
      isAlone(finding) ? { ...finding, advice: `did you mean ${meant}? If not: ${finding.advice}` } : finding;
    return { ...one, findings: one.findings.map(advised) };
  });
}

const withoutDigits = (name: string) => name.replace(/\d+/g, "");

/** Which part of the database is examined, and by whom. */
export interface DatabaseScope {
  /** Whether the settings of Redis are read. */
  readonly hasDatabase: boolean;
  /** Whose clock is compared with Redis's, such as `this server`. */
  readonly whose: string;
}

/**
 * Finds what is wrong with the database, and what is fine. Three requests.
 * @throws {SluiceError} if Redis cannot be reached
 */
export async function examineDatabase(
  transport: Transport,
  { hasDatabase, whose }: DatabaseScope,
  options: ExamineOptions,
): Promise<{ readonly now: number; readonly findings: readonly Finding<DatabaseCode>[] }> {
  const state = await databaseDiagnostics(transport, options);
  const ofRedis = hasDatabase ? databaseFindings(state) : [connectionFinding(state)];
  return { now: state.now, findings: [...ofRedis, clockFinding(state.now, Date.now(), whose)] };
}
