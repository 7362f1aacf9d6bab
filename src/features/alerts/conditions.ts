import { invalidArgument } from "../../errors.ts";
import { milliseconds, type Duration } from "../../kernel/options/duration.ts";
import { span } from "../../kernel/options/span.ts";
import { onlyOptions, wholeNumber } from "../../kernel/options/validation.ts";
import { failedAttempts, type MinuteCounts } from "../../operate/statistics.ts";
import type { Condition, DisabledEndpoint } from "./condition.ts";
import { findingCondition, type FindingOptions } from "./finding-condition.ts";
import type { AlertCondition } from "./types.ts";
import { amount, percent } from "./wording.ts";

/** The conditions and their options. A rule has exactly one. */
export interface ConditionOptions {
  /** More than `above` tasks became dead letters within that time, or since the sweep before, if that is longer ago. */
  readonly newDeadLetters: {
    /** @default 0 */
    readonly above?: number | undefined;
    /** @default "5m" */
    readonly within?: Duration | undefined;
  };
  /** The next pending task was enqueued longer ago than `above`. Its delay counts too. */
  readonly oldestAge: { readonly above: Duration };
  /** More than `above` tasks are pending. */
  readonly pending: { readonly above: number };
  /**
   * More than this share of attempts failed: they were rejected or requeued, or their lease expired. The queue
   * must keep statistics.
   */
  readonly failureRate: {
    /** A share from 0 to below 1, such as 0.2 for 20 %. */
    readonly above: number;
    /** How many attempts must have ended within that time. @default 20 */
    readonly atLeast?: number | undefined;
    /** Whole minutes, "1m" to "30m". The minute that is not over counts too. @default "5m" */
    readonly within?: Duration | undefined;
  };
  /** Tasks are pending, none is working, and no consumer has taken one for that time. A paused queue has none. */
  readonly noConsumer: {
    /** @default "5m" */
    readonly for?: Duration | undefined;
  };
  /** The queue, or the database, has a finding: see `queueHealth`. */
  readonly finding: FindingOptions;
  /** Endpoints are disabled, because their deliveries failed for days, or because they asked for it. */
  readonly endpointDisabled: {};
}

/** Exactly one of the conditions. */
export type When = {
  readonly [Kind in AlertCondition]: { readonly [K in Kind]: ConditionOptions[K] } & {
    readonly [Other in Exclude<AlertCondition, Kind>]?: never;
  };
}[AlertCondition];

const MINUTE = 60_000;
const MOST = Number.MAX_SAFE_INTEGER;

type Checks = { readonly [Kind in AlertCondition]: (given: ConditionOptions[Kind], at: string) => Condition };

const conditions: Checks = {
  newDeadLetters(given, at) {
    onlyOptions(given, ["above", "within"], `${at}.`);
    const { above = 0, within = "5m" } = given;
    const threshold = wholeNumber(above, `${at}.above`, 0, MOST);
    const deadLettersWithin = milliseconds(within, `${at}.within`, { min: MINUTE });
    return {
      kind: "newDeadLetters",
      threshold,
      deadLettersWithin,
      read(queue, { deadLetters }) {
        const value = deadLetters?.get(deadLettersWithin);
        if (value === undefined) return undefined;
        const text = () => `${queue} has ${value === 0 ? "no" : amount(value)} ${newLetters(value)}`;
        return { holds: value > threshold, value, text };
      },
    };
  },
  oldestAge(given, at) {
    onlyOptions(given, ["above"], `${at}.`);
    const threshold = milliseconds(given.above, `${at}.above`, { min: 1_000 });
    return {
      kind: "oldestAge",
      threshold,
      needsCounts: true,
      read(queue, { counts }) {
        if (!counts) return undefined;
        const value = counts.oldestAge ?? 0;
        const text = () =>
          counts.oldestAge === null
            ? `${queue} has no pending task`
            : `The next task of ${queue} was enqueued ${span(value)} ago; the limit is ${span(threshold)}`;
        return { holds: value > threshold, value, text };
      },
    };
  },
  pending(given, at) {
    onlyOptions(given, ["above"], `${at}.`);
    const threshold = wholeNumber(given.above, `${at}.above`, 0, MOST);
    return {
      kind: "pending",
      threshold,
      needsCounts: true,
      read(queue, { counts }) {
        if (!counts) return undefined;
        const value = counts.pending;
        const text = () => `${queue} has ${tasks(value)} pending; the limit is ${amount(threshold)}`;
        return { holds: value > threshold, value, text };
      },
    };
  },
  failureRate(given, at) {
    onlyOptions(given, ["above", "atLeast", "within"], `${at}.`);
    const { above, atLeast = 20, within = "5m" } = given;
    if (typeof above !== "number" || !(above >= 0 && above < 1)) {
      throw invalidArgument(`${at}.above`, "must be a number from 0 to below 1, such as 0.2 for 20 %");
    }
    const least = wholeNumber(atLeast, `${at}.atLeast`, 1, MOST);
    const spanned = milliseconds(within, `${at}.within`, { min: MINUTE, max: 30 * MINUTE });
    if (spanned % MINUTE !== 0) throw invalidArgument(`${at}.within`, 'must be whole minutes, such as "5m"');
    return {
      kind: "failureRate",
      threshold: above,
      needsStatistics: true,
      read(queue, { minutes }) {
        if (!minutes) return undefined;
        const { failed, ended } = attemptsIn(minutes.slice(-spanned / MINUTE - 1));
        const value = ended === 0 ? 0 : Math.round((failed / ended) * 10_000) / 10_000;
        const text = () =>
          `${amount(failed)} of ${amount(ended)} attempts in ${queue} failed within ${span(spanned)} ` +
          `(${percent(value)}); the limit is ${percent(above)}`;
        return { holds: ended >= least && failed > above * ended, value, text };
      },
    };
  },
  noConsumer(given, at) {
    onlyOptions(given, ["for"], `${at}.`);
    const holdsFor = milliseconds(given.for ?? "5m", `${at}.for`, { min: MINUTE });
    return {
      kind: "noConsumer",
      threshold: holdsFor,
      holdsFor,
      needsCounts: true,
      read(queue, { counts }) {
        if (!counts) return undefined;
        const { pending, working, paused, leases } = counts;
        const waits = `${queue} has ${tasks(pending)} pending`;
        const text = (lasting: number) =>
          lasting > 0
            ? `${waits}, and no consumer has taken one for ${span(lasting)}`
            : `${waits}, and ${paused ? "is paused" : "no sign that consumers are missing"}`;
        return { holds: pending > 0 && working === 0 && !paused, mark: String(leases), text };
      },
    };
  },
  finding: findingCondition,
  endpointDisabled(given, at) {
    onlyOptions(given, [], `${at}.`);
    return {
      kind: "endpointDisabled",
      threshold: 0,
      needsEndpoints: true,
      read(_, { disabled }) {
        if (!disabled) return undefined;
        const text = () => disabledText(disabled);
        return { holds: disabled.length > 0, value: disabled.length, text };
      },
    };
  },
};

/** How many endpoints a text names. */
const MOST_NAMED = 5;

function disabledText(disabled: readonly DisabledEndpoint[]): string {
  const { length } = disabled;
  if (length === 0) return "No endpoint is disabled";
  const why = ({ id, isGone }: DisabledEndpoint) =>
    `${id} ${isGone ? "asked to get nothing more" : "failed for too long"}`;
  const named = disabled.slice(0, MOST_NAMED).map(why);
  const more = length > MOST_NAMED ? [`and ${amount(length - MOST_NAMED)} more`] : [];
  return `${length === 1 ? "An endpoint is" : `${amount(length)} endpoints are`} disabled: ${[...named, ...more].join(", ")}`;
}

const kinds = Object.keys(conditions) as AlertCondition[];

/**
 * Checks the condition of a rule.
 * @param at its path, for errors
 * @throws {SluiceError} `invalid_argument`
 */
export function checkedCondition(when: unknown, at: string): Condition {
  onlyOptions(when, kinds, `${at}.`);
  const given = Object.entries(when as ConditionOptions).filter(([, options]) => options !== undefined);
  const [first] = given;
  if (!first || given.length > 1) {
    const rule = given.length > 1 ? "exactly one condition" : "a condition";
    throw invalidArgument(at, `must have ${rule}; it can be ${kinds.join(", ")}`);
  }
  const [kind, options] = first as [AlertCondition, never];
  return conditions[kind](options, `${at}.${kind}`);
}

const newLetters = (count: number) => `new dead letter${count === 1 ? "" : "s"}`;
const tasks = (count: number) => `${count === 0 ? "no" : amount(count)} task${count === 1 ? "" : "s"}`;

function attemptsIn(minutes: readonly MinuteCounts[]): { failed: number; ended: number } {
  let failed = 0;
  let completed = 0;
  for (const minute of minutes) {
    failed += failedAttempts(minute);
    completed += minute.completed;
  }
  return { failed, ended: failed + completed };
}
