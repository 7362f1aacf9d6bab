import { invalidArgument } from "../../errors.ts";
import { type Duration, milliseconds } from "../../kernel/options/duration.ts";
import { listOf, onlyOptions } from "../../kernel/options/validation.ts";
import { databaseCodes, queueCodes } from "../../operate/health/codes.ts";
import { type DatabaseCode, isAtLeast, LONGEST_STUCK, type QueueCode } from "../../operate/health/index.ts";
import type { Condition } from "./condition.ts";

/** Which findings fire a rule. */
export interface FindingOptions {
  /**
   * One code, or several, such as "nothing_ends". Those about the database need the `queues` of the rule to be "*".
   * @default all
   */
  readonly code?: FindingCode | readonly FindingCode[] | undefined;
  /** How bad it must be. @default "problem", or with `code` "warning" */
  readonly status?: "warning" | "problem" | undefined;
  /** How long a queue may be stuck, and how long a dead letter is new, "1m" to "59m". @default "10m" */
  readonly after?: Duration | undefined;
}

export type FindingCode = QueueCode | DatabaseCode;

const ofQueues: ReadonlySet<string> = new Set(queueCodes);
const ofDatabase: ReadonlySet<string> = new Set(databaseCodes);
const allCodes = [...queueCodes, ...databaseCodes];

/** Findings that end with the next delivery. */
const NOT_TAKEN: ReadonlySet<string> = new Set(["no_consumer", "nothing_taken"] satisfies QueueCode[]);

/** By default it must be found twice: passes are some 50 s apart. */
const HOLDS_FOR = 30_000;

/**
 * Checks the condition that there is a finding.
 * @param at its path, for errors
 * @throws {SluiceError} `invalid_argument`
 */
export function findingCondition(given: FindingOptions, at: string): Condition {
  onlyOptions(given, ["code", "status", "after"], `${at}.`);
  const codes = checkedCodes(given.code, `${at}.code`);
  const { status: least = codes ? "warning" : "problem" } = given;
  if (least !== "warning" && least !== "problem")
    throw invalidArgument(`${at}.status`, 'must be "warning" or "problem"');
  const after = milliseconds(given.after ?? "10m", `${at}.after`, { min: 60_000, max: LONGEST_STUCK });
  const wanted: readonly string[] = codes ?? allCodes;
  const name = codes ? codes.join(", ") : least;
  return {
    kind: "finding",
    name,
    threshold: 0,
    holdsByDefault: HOLDS_FOR,
    findings: {
      after,
      ofQueues: wanted.some((code) => ofQueues.has(code)),
      ofDatabase: wanted.some((code) => ofDatabase.has(code)),
    },
    read(queue, { findings }) {
      const found = findings?.get(after);
      if (!found) return undefined;
      const own = found.findings.filter(
        ({ code, status }) => wanted.includes(code) && isAtLeast(status, least),
      );
      const of = queue === "" ? "" : `${queue}: `;
      const texts = own.map(({ about, found }) => (queue === "" ? `${about}: ${found}` : found));
      const text = () => (own.length > 0 ? `${of}${texts.join("; ")}` : `${of}${name} is over`);
      const reading = { holds: own.length > 0, value: own.length, text };
      // A retry that has just become pending looks as if it had waited since its enqueue.
      return own.length > 0 && own.every(({ code }) => NOT_TAKEN.has(code))
        ? { ...reading, mark: String(found.leases) }
        : reading;
    },
  };
}

function checkedCodes(given: unknown, path: string): readonly FindingCode[] | undefined {
  if (given === undefined) return undefined;
  const codes = typeof given === "string" ? [given] : given;
  listOf(codes, path, allCodes.length);
  const list = codes as readonly FindingCode[];
  if (list.length === 0 || list.some((code) => !allCodes.includes(code)))
    throw invalidArgument(path, `must be one or more of ${allCodes.join(", ")}`);
  return list;
}
