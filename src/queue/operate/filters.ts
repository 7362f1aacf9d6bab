import { invalidArgument } from "../../errors.ts";
import { LAST_INSTANT, recordName, wholeNumber } from "../core/validation.ts";
import { rejectReasons, type RejectReason } from "../core/types.ts";

const MAX_TEXT = 1_000;

/** Which tasks are meant: all that is given has to hold. Instants are epoch ms. */
export interface TaskFilter {
  /** What the last error, or the result, contains; as it is written, at most 1,000 characters. */
  readonly text?: string | undefined;
  readonly group?: string | undefined;
  /** Why they were rejected. Cancelled ones are no dead letters, and are only meant where this says so. */
  readonly reason?: RejectReason | undefined;
  readonly endedSince?: number | undefined;
  /** Ended before. */
  readonly endedUntil?: number | undefined;
  readonly enqueuedSince?: number | undefined;
  /** Enqueued before. */
  readonly enqueuedUntil?: number | undefined;
}

/** The names of a filter's parts. */
export const FILTER_OPTIONS = [
  "text",
  "group",
  "reason",
  "endedSince",
  "endedUntil",
  "enqueuedSince",
  "enqueuedUntil",
] as const satisfies readonly (keyof TaskFilter)[];

/**
 * A filter as the scripts take it; empty for all tasks.
 * @throws {SluiceError} `invalid_argument`
 */
export function writeFilter(filter: TaskFilter): string {
  const { text, group, reason } = filter;
  if (text !== undefined && (typeof text !== "string" || text === "" || text.length > MAX_TEXT)) {
    throw invalidArgument("text", `must be a text of 1 to ${MAX_TEXT} characters`);
  }
  if (reason !== undefined && !rejectReasons.includes(reason)) {
    throw invalidArgument("reason", `must be one of ${rejectReasons.join(", ")}`);
  }
  const letters = [
    ["G", group === undefined ? undefined : recordName(group, "group")],
    ["y", reason],
    ["z", instant(filter, "endedSince")],
    ["Z", instant(filter, "endedUntil")],
    ["e", instant(filter, "enqueuedSince")],
    ["E", instant(filter, "enqueuedUntil")],
  ] as const;
  let written = "";
  for (const [letter, value] of letters) if (value !== undefined) written += `;${letter}=${value}`;
  // Results and errors are kept as JSON: what stands in their texts is escaped there.
  return text === undefined ? written : `${written}\n${JSON.stringify(text).slice(1, -1)}`;
}

type Instant = "endedSince" | "endedUntil" | "enqueuedSince" | "enqueuedUntil";

function instant(filter: TaskFilter, name: Instant): number | undefined {
  const value = filter[name];
  return value === undefined ? undefined : wholeNumber(value, name, 0, LAST_INSTANT);
}

const place = String.raw`\d{1,17}(?:\.\d{1,3})? [ -~]{1,500}`;
const inLine = String.raw`\d{1,17} [!-~]{1,200}`;
const CURSORS = {
  /** Through the members of a zset. */
  members: new RegExp(`^${place}$`),
  /** A page of what waits, in the order of delivery. */
  line: new RegExp(String.raw`^\d{1,16} ${inLine} ${inLine}$`),
  /** A purge of what waits, one place after the other. */
  places: new RegExp(`^(?:limited|fair|pending) ${place}$`),
  redrive: new RegExp(String.raw`^\d{1,16} \d{1,16} ${place}$`),
};

/**
 * A cursor as the scripts take it; empty for the beginning.
 * @throws {SluiceError} `invalid_argument`
 */
export function writeCursor(cursor: string | undefined, kind: keyof typeof CURSORS): string {
  if (cursor === undefined) return "";
  if (typeof cursor !== "string" || !CURSORS[kind].test(cursor)) {
    throw invalidArgument("cursor", "must be one that an earlier call gave");
  }
  return cursor;
}
