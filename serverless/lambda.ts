import type { Environment } from "../src/config.ts";
import { type HttpEvent, type HttpResult, requestOf, resultOf } from "./lambda/http-event.ts";
import { Deployment, overHttp, type Platform, type ServiceOptions } from "./deployment/service.ts";

export type { HttpEvent, HttpResult } from "./lambda/http-event.ts";
export * from "./deployment/consumer.ts";
export type { Around, ServiceOptions } from "./deployment/service.ts";

/** What EventBridge sends by a schedule, a rule's or the Scheduler's. */
export interface ScheduledEvent {
  readonly "detail-type": string;
}

export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/** What Lambda calls; one that AWS's own types of both kinds of events allow. */
export interface LambdaHandler {
  (event: HttpEvent, context: LambdaContext): Promise<HttpResult>;
  (event: ScheduledEvent, context: LambdaContext): Promise<void>;
}

const platform: Platform = {
  transport: overHttp,
  // Lambda's longest; what counts is the time that the function is given, which its context tells.
  // https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html
  budget: "15m",
  // It is frozen once it has answered. https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
  afterResponse: "none",
  // Whom it wakes answers only when the work is done, and works on when nobody waits for that any more.
  wakeTimeout: "500ms",
};

/** What an invocation keeps of its time for its last steps and its answer, ms. */
const LAST_STEPS = 2_000;

/**
 * A Lambda function that is the whole of a deployment: HTTP interface, cron, wakes and consumers. Consumers work in cron's
 * invocations, and in those of `SLUICE_WAKE_URL`, which is this function's own.
 * @example
 * export const handler = sluice({ consumers: { emails: send } });
 */
export function sluice<Env extends object = Environment>(options: ServiceOptions<Env> = {}): LambdaHandler {
  const deployment = new Deployment(options, () => platform);
  const handler = async (event: HttpEvent | ScheduledEvent, context: LambdaContext) => {
    const env = process.env as Environment as Env;
    const time = Math.max(context.getRemainingTimeInMillis() - LAST_STEPS, 0);
    if ("requestContext" in event && "http" in event.requestContext) {
      const request = requestOf(event, AbortSignal.timeout(time));
      return resultOf(await deployment.fetch(request, env, undefined, time));
    }
    if ("detail-type" in event && event["detail-type"] === "Scheduled Event")
      return deployment.service(env).cron(time);
    throw new TypeError("An event must be HTTP of payload format 2.0, or a Scheduled Event of EventBridge");
  };
  return handler as LambdaHandler;
}

export const handler = sluice();
