import { invalidArgument } from "../../errors.ts";
import { alertsFailed } from "../../log/lines.ts";
import { listOf, onlyOptions } from "../../kernel/options/validation.ts";
import { checkedUrl, HTTP } from "../../url.ts";
import { channelOf } from "./deliver.ts";
import { runPass } from "./pass.ts";
import { checkedRules, type AlertRule } from "./rules.ts";
import type { AlertChannel, AlertReceiver, Alerts } from "./types.ts";

export interface AlertsOptions<Env> {
  /** When to send an alert: 1 to 100 rules. */
  readonly rules: readonly AlertRule[];
  /**
   * Where alerts go: up to 10 receivers, or a function that makes them from the environment.
   * @default nowhere; the log has a line for each alert anyway
   */
  readonly send?: readonly AlertReceiver[] | ((env: Env) => readonly AlertReceiver[]) | undefined;
  /**
   * The URL of the dashboard, such as "https://queue.example.com/dashboard". Alerts link to the queue there.
   * @default alerts have no link
   */
  readonly dashboardUrl?: string | undefined;
}

const MOST_RECEIVERS = 10;

/**
 * Defines the alerts of a deployment. Its cron evaluates the rules after each sweep, at most once a minute.
 * @param options.rules are checked now, the receivers when the deployment starts
 * @returns the `alerts` option of `sluice` and `serve`
 * @throws {SluiceError} `invalid_argument`
 * @example
 * export default sluice({
 *   consumers: { emails: ({ payload }) => send(payload) },
 *   alerts: defineAlerts({
 *     rules: [{ when: { newDeadLetters: {} } }, { queues: "emails", when: { oldestAge: { above: "5m" } } }],
 *     send: (env: Env) => [slack({ url: env.SLACK_URL })],
 *   }),
 * });
 */
export function defineAlerts<Env extends object = object>(options: AlertsOptions<Env>): Alerts<Env> {
  onlyOptions(options, ["rules", "send", "dashboardUrl"], "alerts.");
  const rules = checkedRules(options.rules);
  const { send = [] } = options;
  if (typeof send !== "function") checkedReceivers(send);
  const dashboardUrl =
    options.dashboardUrl === undefined
      ? undefined
      : checkedUrl(options.dashboardUrl, "alerts.dashboardUrl", HTTP, "user, password, query and fragment")
          .href;
  const reported = new Set<string>();
  // A value, not a promise: a Worker must not wait for what another request started.
  let field: string | undefined;

  return {
    connect(env) {
      const channels = checkedReceivers(typeof send === "function" ? send(env) : send);
      return {
        async evaluate(context) {
          try {
            field ??= await passField(options.rules);
            await runPass({ rules, channels, dashboardUrl, reported, field }, context);
          } catch (error) {
            if (!context.signal?.aborted) context.log(alertsFailed(error));
          }
        },
      };
    },
  };
}

function checkedReceivers(receivers: unknown): AlertChannel[] {
  listOf(receivers, "alerts.send", MOST_RECEIVERS);
  return (receivers as readonly AlertReceiver[]).map((receiver, i) => {
    const { deliver } = Object(receiver) as Partial<AlertChannel>;
    if (typeof receiver !== "function" && typeof deliver !== "function") {
      throw invalidArgument(
        `alerts.send[${i}]`,
        "must be webhook(…), slack(…) or a function that takes an alert",
      );
    }
    return channelOf(receiver);
  });
}

/** The field of the last pass: deployments with the same rules share it. */
async function passField(rules: readonly AlertRule[]): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(rules));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text)).subarray(0, 8);
  return `~pass:${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
