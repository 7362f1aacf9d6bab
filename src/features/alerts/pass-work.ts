import { alertChanged, alertFailed } from "../../log/lines.ts";
import type { Log } from "../../log/logger.ts";
import { decide, remembered, type Decision } from "./decide.ts";
import type { Outgoing } from "./deliver.ts";
import type { MeasuredQueue } from "./measure.ts";
import type { RecordChange } from "../../operate/put-records.ts";
import type { CheckedRule, WatchedQueue } from "./rules.ts";
import {
  formatQueueState,
  nextRest,
  queueOf,
  readPass,
  readQueueState,
  type Message,
  type Pass,
  type RuleState,
} from "./state.ts";
import type { Alert, AlertChannel } from "./types.ts";

/**
 * The most new alerts that a pass sends, and the most that it sends again. The others follow with the next passes.
 * They are counted apart, so that a receiver that is down does not hold up new alerts for the others.
 */
const MOST_ALERTS = 40;

/** The record of a pass that no deployment has begun for so long is removed, ms. */
const KEEP_PASS = 7 * 86_400_000;

/** What is configured. */
export interface PassRules {
  readonly rules: readonly CheckedRule[];
  readonly channels: readonly AlertChannel[];
  readonly dashboardUrl: string | undefined;
  /** Where the hash has the last pass of these rules. */
  readonly field: string;
  /** Queues of which the log has a line that they keep no statistics. */
  readonly reported: Set<string>;
}

/** A change of a queue's record, and what it was decided from. */
interface QueueChange extends RecordChange {
  readonly states: ReadonlyMap<string, RuleState>;
  readonly decisions: readonly { readonly rule: CheckedRule; readonly decision: Decision }[];
}

/** What a pass decides, and the changes of records that claim and confirm its alerts. */
export class PassWork {
  readonly changes: (RecordChange | QueueChange)[] = [];
  readonly #configured: PassRules;
  /** Epoch ms. */
  readonly #now: number;
  readonly #log: Log;
  #sent = 0;
  #resent = 0;
  #claimed: readonly QueueChange[] = [];

  constructor(configured: PassRules, now: number, log: Log) {
    this.#configured = configured;
    this.#now = now;
    this.#log = log;
  }

  /** Decides for a queue, or the database. @param record as it was read; empty: none */
  decide({ name, rules }: WatchedQueue, measured: MeasuredQueue | undefined, record: string): void {
    const known = readQueueState(record);
    if (!known) return this.#report(name, "a newer release of Sluice wrote the record of its alerts");
    const states = new Map(known);
    const decisions: { rule: CheckedRule; decision: Decision }[] = [];
    for (const rule of rules) {
      const reading = measured && rule.condition.read(queueOf(name), measured);
      if (rule.condition.needsStatistics && measured?.lacksStatistics) {
        this.#report(name, `the rule ${rule.name} needs statistics, and the queue keeps none`);
      }
      if (!reading) continue;
      const decision = decide({
        rule,
        state: known.get(rule.name),
        reading,
        now: this.#now,
        receivers: this.#configured.channels.length,
        maySend: this.#sent < MOST_ALERTS,
        mayResend: this.#resent < MOST_ALERTS,
      });
      if (decision.isNew) this.#sent++;
      else if (decision.send) this.#resent++;
      if (decision.state) states.set(rule.name, decision.state);
      else states.delete(rule.name);
      decisions.push({ rule, decision });
    }
    // Another deployment may have that rule, or be able to read it.
    const decided = new Set(decisions.map(({ rule }) => rule.name));
    for (const [rule, { expiresAt }] of known) {
      if (!decided.has(rule) && expiresAt <= this.#now) states.delete(rule);
    }
    const next = formatQueueState(states);
    if (next !== record) this.changes.push({ field: name, was: record, record: next, states, decisions });
  }

  /** Removes the record of a pass that no deployment begins any longer. */
  removeOldPass(field: string, record: string): void {
    const { beganAt } = readPass(record);
    if (beganAt > 0 && this.#now - beganAt > KEEP_PASS) this.changes.push({ field, was: record, record: "" });
  }

  /** Notes where the next pass goes on in the registry. @param cursor null at its end */
  moveOn(pass: Pass, cursor: string | null, was: string): void {
    const rest = nextRest(pass, cursor);
    if (rest !== pass.rest) {
      this.changes.push({ field: this.#configured.field, was, record: pass.start + rest });
    }
  }

  /**
   * What this pass sends: what it has claimed. Logs each new alert, and each that is given up.
   * @param accepted whether each change was made, in their order
   */
  claimed(accepted: readonly boolean[]): Outgoing[] {
    this.#claimed = this.changes.filter(
      (change, i): change is QueueChange => accepted[i] === true && "decisions" in change,
    );
    const outgoing: Outgoing[] = [];
    for (const { field, decisions } of this.#claimed) {
      const queue = queueOf(field);
      for (const { rule, decision } of decisions) {
        const { send, isNew, givenUp } = decision;
        if (givenUp) {
          this.#logFailure(rule.name, queue, "given up: receivers have not taken the alert for an hour");
        }
        if (!send) continue;
        if (isNew) this.#log(alertChanged(rule.name, queue, send.firing, send.text));
        if (send.to.length > 0) outgoing.push({ alert: this.#alertOf(send, queue, rule), to: send.to });
      }
    }
    return outgoing;
  }

  /** The changes that confirm what was sent. @param left by the id of the alert, the receivers that do not have it */
  confirmations(left: ReadonlyMap<string, readonly number[]>): RecordChange[] {
    const confirmed: RecordChange[] = [];
    for (const { field, record: was, states, decisions } of this.#claimed) {
      const next = new Map(states);
      for (const { rule, decision } of decisions) {
        const { send, state } = decision;
        if (!send || !state?.message) continue;
        const to = left.get(send.id) ?? [];
        const message = to.length > 0 ? { ...send, to, claimedUntil: 0 } : undefined;
        const rest = remembered(rule, { ...state, message }, this.#now);
        if (rest) next.set(rule.name, rest);
        else next.delete(rule.name);
      }
      const record = formatQueueState(next);
      if (record !== was) confirmed.push({ field, was, record });
    }
    return confirmed;
  }

  #alertOf(message: Message, queue: string, rule: CheckedRule): Alert {
    const { id, firing, reminder, startedAt, measuredAt, value, text } = message;
    const { dashboardUrl } = this.#configured;
    return {
      id,
      type: firing ? "alert.firing" : "alert.resolved",
      rule: rule.name,
      queue,
      condition: rule.condition.kind,
      value,
      threshold: rule.condition.threshold,
      startedAt,
      measuredAt,
      reminder,
      text,
      ...(dashboardUrl !== undefined && {
        url: queue === "" ? dashboardUrl : `${dashboardUrl}#/queues/${queue}`,
      }),
    };
  }

  /** Logs why the rules of a queue cannot be evaluated, once in this instance. */
  #report(queue: string, why: string): void {
    const { reported } = this.#configured;
    if (reported.has(queue)) return;
    reported.add(queue);
    this.#logFailure("rules", queue, why);
  }

  #logFailure(alert: string, queue: string, failed: string): void {
    this.#log(alertFailed({ alert, queue, failed }));
  }
}
