import { invalidArgument } from "../../errors.ts";
import { milliseconds, type Duration } from "../../kernel/options/duration.ts";
import { matches, QUEUE_PATTERN, queuePatternForm } from "../../kernel/names/queue-pattern.ts";
import { listOf, onlyOptions } from "../../kernel/options/validation.ts";
import type { Condition } from "./condition.ts";
import { checkedCondition, type When } from "./conditions.ts";

/** When to send an alert. A rule fires for each queue by itself. */
export interface AlertRule {
  /**
   * Distinguishes the rule from the others, in alerts too: 1 to 100 characters.
   * @default the condition, or the code of a finding, and the pattern of queues if there is one, such as
   *   "oldestAge of emails-*"
   */
  readonly name?: string | undefined;
  /** The queues that it watches: a name, or a pattern such as "emails-*", with `*` for any characters. @default "*" */
  readonly queues?: string | undefined;
  /** The condition: exactly one. */
  readonly when: When;
  /**
   * How long the condition must hold before the rule fires. `noConsumer` has its own.
   * @default 0: the rule fires when a sweep first finds that the condition holds. Of `finding` 30 s: at the second one
   */
  readonly for?: Duration | undefined;
  /**
   * For how long the rule sends no second alert for the same queue. If it still fires after that, it sends a
   * reminder.
   * @default "1h"
   */
  readonly window?: Duration | undefined;
}

/** A rule with all defaults. Times are in ms. */
export interface CheckedRule {
  readonly name: string;
  readonly queues: string;
  readonly condition: Condition;
  readonly holdsFor: number;
  readonly window: number;
}

/** A queue with the rules that watch it. */
export interface WatchedQueue {
  readonly name: string;
  readonly rules: readonly CheckedRule[];
}

/** The most rules of a deployment. */
const MOST_RULES = 100;

const NAME = /^[^\p{Cc}\p{Zl}\p{Zp}]{1,100}$/u;

const OPTIONS = ["name", "queues", "when", "for", "window"] as const satisfies readonly (keyof AlertRule)[];

/** @throws {SluiceError} `invalid_argument`; its path begins with `alerts.rules` */
export function checkedRules(rules: unknown): CheckedRule[] {
  listOf(rules, "alerts.rules", MOST_RULES);
  const checked = (rules as readonly AlertRule[]).map((rule, i) => checkedRule(rule, `alerts.rules[${i}]`));
  if (checked.length === 0) throw invalidArgument("alerts.rules", "must have at least one rule");
  for (const [i, { name }] of checked.entries()) {
    const first = checked.findIndex((other) => other.name === name);
    if (first < i) {
      const same = `must differ from the name of alerts.rules[${first}]; both are ${JSON.stringify(name)}`;
      throw invalidArgument(`alerts.rules[${i}].name`, same);
    }
  }
  return checked;
}

function checkedRule(rule: AlertRule, at: string): CheckedRule {
  onlyOptions(rule, OPTIONS, `${at}.`);
  const { queues = "*", window = "1h" } = rule;
  if (typeof queues !== "string" || !QUEUE_PATTERN.test(queues)) {
    throw invalidArgument(`${at}.queues`, queuePatternForm);
  }
  const condition = checkedCondition(rule.when, `${at}.when`);
  if (condition.holdsFor !== undefined && rule.for !== undefined) {
    throw invalidArgument(`${at}.for`, `must not be set; set ${at}.when.${condition.kind}.for instead`);
  }
  if (!canWatchQueues(condition) && queues !== "*") {
    throw invalidArgument(`${at}.queues`, "must not be set, because the rule watches the database");
  }
  const what = condition.name ?? condition.kind;
  const { name = queues === "*" ? what : `${what} of ${queues}` } = rule;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw invalidArgument(
      `${at}.name`,
      "must be 1 to 100 characters, without line breaks or control characters",
    );
  }
  return {
    name,
    queues,
    condition,
    holdsFor: condition.holdsFor ?? milliseconds(rule.for ?? condition.holdsByDefault ?? 0, `${at}.for`),
    window: milliseconds(window, `${at}.window`, { min: 60_000 }),
  };
}

const canWatchQueues = ({ findings, needsEndpoints }: Condition) =>
  !needsEndpoints && findings?.ofQueues !== false;

const watchesQueues = ({ condition }: CheckedRule) => canWatchQueues(condition);

/** The rules that watch that queue. */
export function rulesOf(rules: readonly CheckedRule[], queue: string): CheckedRule[] {
  return rules.filter((rule) => watchesQueues(rule) && matches(rule.queues, queue));
}

/** The rules that watch the database. */
export function rulesOfDatabase(rules: readonly CheckedRule[]): CheckedRule[] {
  const watches = ({ findings, needsEndpoints }: Condition) => needsEndpoints || findings?.ofDatabase;
  return rules.filter(({ queues, condition }) => watches(condition) && queues === "*");
}

/** The queues that the rules name; undefined if a rule has a pattern. */
export function namedQueues(rules: readonly CheckedRule[]): string[] | undefined {
  const names = new Set(rules.filter(watchesQueues).map(({ queues }) => queues));
  return [...names].some((name) => name.includes("*")) ? undefined : [...names];
}
