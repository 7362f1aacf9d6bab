import { isSigningSecret, SECRET_FORM, signedHeaders, signingKey } from "../../../signature.ts";
import { invalidArgument } from "../../../errors.ts";
import { onlyOptions } from "../../../kernel/options/validation.ts";
import { eachInTurn } from "../deliver.ts";
import type { Alert, AlertChannel } from "../types.ts";
import { POST_OPTIONS, poster, type PostOptions } from "./post.ts";

/** Alerts that one webhook gets at once. */
const ABREAST = 4;

/** The most secrets of a webhook. */
const MOST_SECRETS = 5;

export interface WebhookOptions extends PostOptions {
  /**
   * Signs the requests: `whsec_` followed by 24 to 64 bytes in base64. Of several, such as an old one and its
   * successor, each signs. To make one: `echo whsec_$(openssl rand -base64 32)`.
   */
  readonly secret: string | readonly string[] | undefined;
}

/**
 * Sends each alert as a POST to a URL, signed as Standard Webhooks specifies. The alert counts as sent after a
 * response of 2xx. A receiver that responds 410 does not get this alert again.
 * @param options.url begins with `https://` or `http://`, without user and password
 * @param options.secret `whsec_` followed by 24 to 64 bytes in base64, or several
 * @param options.timeout of one try. Default: "5s"
 * @throws {SluiceError} `invalid_argument`
 * @example
 * defineAlerts({
 *   rules: [{ when: { newDeadLetters: {} } }],
 *   send: (env: Env) => [webhook({ url: "https://ops.example.com/alerts", secret: env.ALERT_SECRET })],
 * });
 */
export function webhook(options: WebhookOptions): AlertChannel {
  onlyOptions(options, [...POST_OPTIONS, "secret"], "webhook.");
  const secrets = [options.secret].flat() as readonly string[];
  if (secrets.length < 1 || secrets.length > MOST_SECRETS || !secrets.every(isSigningSecret)) {
    throw invalidArgument("webhook.secret", `${SECRET_FORM}, or up to ${MOST_SECRETS} of them`);
  }
  const post = poster(options, "webhook");
  // Values, not a promise: a Worker must not wait for what another request started.
  let keys: CryptoKey[] | undefined;

  return {
    name: `webhook ${new URL(options.url as string).host}`,
    deliver: (alerts, limits) =>
      eachInTurn(alerts, ABREAST, limits, (alert, within) => {
        const body = bodyOf(alert);
        const content = async () => {
          keys ??= await Promise.all(secrets.map((secret) => signingKey(secret)));
          return { body, headers: await signedHeaders(keys, alert.id, body) };
        };
        return post(content, within, limits.signal);
      }),
  };
}

/** The body of an alert, in the form that Standard Webhooks recommends. */
function bodyOf({ id: _, type, measuredAt, ...data }: Alert): string {
  return JSON.stringify({
    type,
    timestamp: new Date(measuredAt).toISOString(),
    data: { ...data, measuredAt },
  });
}
