export type { ConditionOptions, When } from "./conditions.ts";
export { type AlertsOptions, defineAlerts } from "./define-alerts.ts";
export type { PostOptions } from "./receivers/post.ts";
export { slack, type SlackOptions } from "./receivers/slack.ts";
export { webhook, type WebhookOptions } from "./receivers/webhook.ts";
export type { AlertRule } from "./rules.ts";
export type {
  Alert,
  AlertChannel,
  AlertCondition,
  AlertEvaluator,
  AlertReceiver,
  Alerts,
  Delivery,
  DeliveryOptions,
  PassContext,
} from "./types.ts";
