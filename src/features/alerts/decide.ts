import { newToken } from "../../kernel/names/ids.ts";
import type { Reading } from "./condition.ts";
import type { CheckedRule } from "./rules.ts";
import type { Message, RuleState } from "./state.ts";

/** For how long a pass keeps an alert to itself while it sends it, ms. After that another pass sends it again. */
export const CLAIM = 30_000;

/** For how long an alert is sent again to receivers that do not have it, ms. */
export const KEEP_TRYING = 3_600_000;

/** For how long after its last use the state of a rule that is unknown or cannot be read is kept, ms. */
const KEEP_UNKNOWN = 86_400_000;

/** What a pass does about a rule and a queue. */
export interface Decision {
  /** Undefined if nothing has to be remembered. */
  readonly state: RuleState | undefined;
  /** The alert to send; it is also in the state. */
  readonly send?: Message;
  /** True if the alert is new, not sent again. */
  readonly isNew?: boolean;
  /** An alert that is given up, because its receivers have not taken it for an hour. */
  readonly givenUp?: Message;
}

export interface Deciding {
  readonly rule: CheckedRule;
  readonly state: RuleState | undefined;
  readonly reading: Reading;
  /** Epoch ms. */
  readonly now: number;
  /** How many receivers there are. */
  readonly receivers: number;
  /** Whether this pass may send one more new alert. If not, a later pass decides. */
  readonly maySend: boolean;
  /** Whether this pass may send one more alert again. */
  readonly mayResend: boolean;
}

/** Decides what a reading changes. Times come from one clock, so a jump back only delays. */
export function decide(deciding: Deciding): Decision {
  const { rule, reading, now } = deciding;
  const { message: open, ...was } = deciding.state ?? { expiresAt: 0 };
  const isSame = was.mark === undefined || reading.mark === undefined || was.mark === reading.mark;
  const goesOn = was.since !== undefined && isSame;
  const since = reading.holds ? (goesOn ? (was.since as number) : now) : undefined;
  const lasting = since === undefined ? 0 : Math.max(0, now - since);
  const active = since !== undefined && lasting >= rule.holdsFor;
  const inWindow = was.alertedAt !== undefined && now < was.alertedAt + rule.window;
  const changes = active ? !inWindow : was.firing === true;

  if (changes && deciding.maySend) {
    const alertedAt = active ? now : was.alertedAt;
    const send: Message = {
      id: `alert_${newToken()}`,
      firing: active,
      reminder: active && was.firing === true,
      startedAt: (active ? since : was.since) ?? was.alertedAt ?? now,
      measuredAt: now,
      value: reading.value ?? lasting,
      text: reading.text(lasting),
      claimedUntil: now + CLAIM,
      to: Array.from({ length: deciding.receivers }, (_, i) => i),
    };
    const state = { since, mark: reading.mark, alertedAt, firing: active };
    // Without receivers the log alone has the alert.
    const message = send.to.length > 0 ? send : undefined;
    return { state: remembered(rule, { ...state, message }, now), send, isNew: true };
  }

  // A recovery that waits for its turn keeps the start of what has ended.
  const kept = changes && !active ? was : { ...was, since, mark: reading.mark };
  const decision = openMessage(open, deciding);
  return { ...decision, state: remembered(rule, { ...kept, message: decision.message }, now) };
}

/** What becomes of an alert that not all receivers have. */
function openMessage(
  open: Message | undefined,
  { now, mayResend, receivers }: Deciding,
): { message?: Message; send?: Message; givenUp?: Message } {
  if (!open) return {};
  const to = open.to.filter((position) => position < receivers);
  if (open.claimedUntil > now && open.claimedUntil <= now + CLAIM) return { message: open };
  if (to.length === 0) return {};
  if (now - open.measuredAt >= KEEP_TRYING) return { givenUp: open };
  if (!mayResend) return { message: open };
  const message = { ...open, to, claimedUntil: now + CLAIM };
  return { message, send: message };
}

/** The state, without what no later pass needs; undefined if nothing is left. */
export function remembered(
  rule: CheckedRule,
  state: Omit<RuleState, "expiresAt">,
  now: number,
): RuleState | undefined {
  const { since, mark, alertedAt, firing, message } = state;
  const inWindow = alertedAt !== undefined && now < alertedAt + rule.window;
  if (since === undefined && !firing && !inWindow && !message) return undefined;
  const holds = since !== undefined;
  return {
    since,
    mark: holds ? mark : undefined,
    alertedAt,
    firing: firing ? true : undefined,
    message,
    // From fixed times, so that a pass in which nothing happens writes nothing.
    expiresAt: Math.max((since ?? 0) + rule.holdsFor, (alertedAt ?? 0) + rule.window) + KEEP_UNKNOWN,
  };
}
