import { invalidArgument } from "../errors.ts";
import { instantMs, LAST_INSTANT } from "../kernel/options/instants.ts";
import { recordName } from "../kernel/options/validation.ts";
import { reasonsWith } from "../kernel/errors/reason-text.ts";
import { rejectReasons, type RejectReason } from "../kernel/options/types.ts";

/** Longest text of a filter, in characters. */
const MAX_TEXT = 1_000;

/** Selects tasks that match all given conditions. Instants are epoch ms. */
export interface TaskFilter {
  /**
   * Text that the last error, or the result, contains: 1 to 1,000 characters, case-sensitive. Of a task without
   * an error, and of one whose last lease expired, also its text in {@link reasonTexts}.
   */
  readonly text?: string | undefined;
  readonly group?: string | undefined;
  /**
   * Why the tasks were rejected: a reason, or several of which one must match. `"cancelled"` cannot be one of several,
   * because cancelled tasks are no dead letters.
   */
  readonly reason?: RejectReason | readonly RejectReason[] | undefined;
  /** Ended at or after this instant. */
  readonly endedSince?: number | undefined;
  /** Ended before this instant. */
  readonly endedUntil?: number | undefined;
  /** Enqueued at or after this instant. */
  readonly enqueuedSince?: number | undefined;
  /** Enqueued before this instant. */
  readonly enqueuedUntil?: number | undefined;
}

/** The options of a filter. */
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
  const { text, group } = filter;
  if (text !== undefined && (typeof text !== "string" || text === "" || text.length > MAX_TEXT)) {
    throw invalidArgument("text", `must be a text of 1 to ${MAX_TEXT} characters`);
  }
  const letters = [
    ["G", group === undefined ? undefined : recordName(group, "group")],
    ["y", writeReasons(filter.reason)],
    ["x", text === undefined ? undefined : listOf(reasonsWith(text))],
    ["z", instant(filter, "endedSince")],
    ["Z", instant(filter, "endedUntil")],
    ["e", instant(filter, "enqueuedSince")],
    ["E", instant(filter, "enqueuedUntil")],
  ] as const;
  let written = "";
  for (const [letter, value] of letters) if (value !== undefined) written += `;${letter}=${value}`;
  // Results and errors are stored as JSON, so their texts are escaped.
  return text === undefined ? written : `${written}\n${JSON.stringify(text).slice(1, -1)}`;
}

function writeReasons(given: TaskFilter["reason"]): string | undefined {
  if (given === undefined) return undefined;
  const reasons = [given].flat();
  if (reasons.length === 0 || !reasons.every((reason) => rejectReasons.includes(reason))) {
    throw invalidArgument("reason", `must be one of ${rejectReasons.join(", ")}, or a list of them`);
  }
  if (reasons.length > 1 && reasons.includes("cancelled")) {
    throw invalidArgument(
      "reason",
      "must not list cancelled with other reasons: cancelled tasks are no dead letters",
    );
  }
  return listOf(reasons);
}

/** Reasons as the scripts look them up; undefined for none. */
function listOf(reasons: readonly RejectReason[]): string | undefined {
  return reasons.length === 0 ? undefined : `,${reasons.join(",")},`;
}

type Instant = "endedSince" | "endedUntil" | "enqueuedSince" | "enqueuedUntil";

function instant(filter: TaskFilter, name: Instant): number | undefined {
  const value = filter[name];
  return value === undefined ? undefined : instantMs(value, name, LAST_INSTANT);
}

const member = String.raw`\d{1,17}(?:\.\d{1,3})? [ -~]{1,500}`;
const listed = String.raw`\d{1,17} [!-~]{1,200}`;
const CURSORS = {
  /** The members of a zset. */
  members: new RegExp(`^${member}$`),
  /** Pending tasks, in the order of delivery. */
  pending: new RegExp(String.raw`^\d{1,16} ${listed} ${listed}$`),
  /** A purge of pending tasks: the key, and where in it. */
  purgePending: new RegExp(`^(?:limited|fair|pending) ${member}$`),
  /** The groups with waiting tasks: after a name in `fair`, or from a number in `limited`. */
  groups: /^(?:after [!-~]{1,400}|from \d{1,7})$/,
  /** A redrive by filter. */
  redrive: new RegExp(String.raw`^\d{1,16} \d{1,16} ${member}$`),
};

/**
 * A cursor as the scripts take it; empty for the beginning.
 * @throws {SluiceError} `invalid_argument`
 */
export function writeCursor(cursor: string | undefined, kind: keyof typeof CURSORS): string {
  if (cursor === undefined) return "";
  if (typeof cursor !== "string" || !CURSORS[kind].test(cursor)) {
    throw invalidArgument("cursor", "must be the cursor of an earlier call");
  }
  return cursor;
}
