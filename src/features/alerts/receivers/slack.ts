import { slicesOf } from "../../../kernel/slices.ts";
import { onlyOptions } from "../../../kernel/options/validation.ts";
import type { Alert, AlertChannel, Delivery } from "../types.ts";
import { POST_OPTIONS, poster, type PostOptions } from "./post.ts";

/** The most alerts in a message. Slack allows 50 blocks: https://docs.slack.dev/reference/block-kit/blocks/ */
const MOST_BLOCKS = 40;

/** What an incoming webhook of Slack needs. */
export type SlackOptions = PostOptions;

/**
 * Sends alerts to a channel of Slack by an incoming webhook. One message has up to 40 alerts.
 * @param options.url of the incoming webhook: `https://hooks.slack.com/services/…`. It is a secret
 * @param options.timeout of one try. Default: "5s"
 * @throws {SluiceError} `invalid_argument`
 * @example
 * defineAlerts({
 *   rules: [{ when: { newDeadLetters: {} } }],
 *   send: (env: Env) => [slack({ url: env.SLACK_URL })],
 * });
 */
export function slack(options: SlackOptions): AlertChannel {
  onlyOptions(options, POST_OPTIONS, "slack.");
  const post = poster(options, "slack");
  return {
    name: "slack",
    async deliver(alerts, { within, signal }) {
      const end = performance.now() + within;
      const deliveries: Delivery[] = [];
      for (const some of slicesOf(alerts, MOST_BLOCKS)) {
        const body = JSON.stringify(slackMessage(some));
        const delivery = await post(async () => ({ body }), end - performance.now(), signal);
        deliveries.push(...some.map(() => delivery));
      }
      return deliveries;
    },
  };
}

/** The message of some alerts. Slack shows `text` in notifications, and the blocks in the channel. */
function slackMessage(alerts: readonly Alert[]): object {
  const [first] = alerts;
  const text = alerts.length === 1 && first ? headline(first) : `${alerts.length} alerts`;
  return { text: escaped(text), blocks: alerts.map(section), unfurl_links: false, unfurl_media: false };
}

function section(alert: Alert): object {
  const { rule, startedAt, url } = alert;
  const details = [`Rule: ${escaped(rule)}`, `since ${date(startedAt)}`];
  if (url !== undefined) details.push(`<${escaped(url)}|Open the queue>`);
  const text = `${alert.type === "alert.firing" ? ":red_circle:" : ":large_green_circle:"} ${escaped(headline(alert))}\n${details.join(" · ")}`;
  // `verbatim`: Slack makes no links, channels or people of names.
  return { type: "section", text: { type: "mrkdwn", text, verbatim: true } };
}

const headline = ({ type, reminder, text }: Alert) =>
  type === "alert.resolved" ? `Resolved: ${text}` : reminder ? `Still firing: ${text}` : text;

/** An instant, which Slack shows in the reader's time zone. */
function date(at: number): string {
  const fallback = `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} {time}|${fallback}>`;
}

/** Escapes the three characters that have a meaning in Slack's texts. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
