import type { Transport } from "../../kernel/transport.ts";
import type { Log } from "../../log/logger.ts";

/** What a rule can watch. */
export type AlertCondition =
  | "newDeadLetters"
  | "oldestAge"
  | "pending"
  | "failureRate"
  | "noConsumer"
  | "finding"
  | "endpointDisabled";

/** What a receiver gets: a rule fires for a queue, or does so no longer. */
export interface Alert {
  /** Names the alert. It stays the same if the alert is sent again, so that a receiver can drop the copy. */
  readonly id: string;
  readonly type: "alert.firing" | "alert.resolved";
  /** The name of the rule. */
  readonly rule: string;
  /** Empty if the alert is about the database. */
  readonly queue: string;
  /** What the rule watches. */
  readonly condition: AlertCondition;
  /**
   * What was measured. Of `oldestAge` and `noConsumer` a time, ms; of `failureRate` a share of 1; of `finding` and
   * `endpointDisabled` how many there are; else a number of tasks.
   */
  readonly value: number;
  /** The limit of the rule, in the unit of `value`. */
  readonly threshold: number;
  /** When a sweep first found that the condition held, epoch ms. */
  readonly startedAt: number;
  /** When the value was measured, epoch ms. */
  readonly measuredAt: number;
  /** True if the rule has already sent an alert for the queue and still fires. */
  readonly reminder: boolean;
  /** One sentence for people. It has the names of the rule and the queue, and nothing of any task. */
  readonly text: string;
  /** The queue in the dashboard, if `dashboardUrl` is set. */
  readonly url?: string | undefined;
}

/** What happened to an alert at a receiver: it has it, it wants no more, or the error of the last try. */
export type Delivery = "delivered" | "gone" | Error;

/** Limits of sending. */
export interface DeliveryOptions {
  /** How long all alerts may take together, ms. */
  readonly within: number;
  readonly signal?: AbortSignal | undefined;
}

/** A receiver that {@link webhook} or {@link slack} made. */
export interface AlertChannel {
  /** For the log. It holds no secret. */
  readonly name: string;
  /** Sends alerts. Returns what happened to each, in their order. Never throws. */
  readonly deliver: (alerts: readonly Alert[], options: DeliveryOptions) => Promise<readonly Delivery[]>;
}

/** Where alerts go: `webhook(…)`, `slack(…)`, or a function that sends one. The alert is sent again if it throws. */
export type AlertReceiver = AlertChannel | ((alert: Alert) => unknown);

/** How a pass reaches Redis, and how long it may take. */
export interface PassContext {
  readonly transport: Transport;
  readonly prefix: string | undefined;
  /** How long the pass may take, ms. */
  readonly budget: number;
  readonly signal?: AbortSignal | undefined;
  readonly log: Log;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/** The rules of a deployment with its receivers. */
export interface AlertEvaluator {
  /** Evaluates the rules, and sends what has changed. Does nothing if a pass began within the last 50 s. Never throws. */
  readonly evaluate: (context: PassContext) => Promise<void>;
}

/** The alerts of a deployment. `defineAlerts` makes them. */
export interface Alerts<in Env = object> {
  /**
   * Checks the receivers in an environment. Deployments call it.
   * @throws {SluiceError} `invalid_argument`
   */
  readonly connect: (env: Env) => AlertEvaluator;
}
