import type { Environment } from "../src/config.ts";
import { type HttpEvent, type HttpResult, requestOf, resultOf } from "./lambda/http-event.ts";
import { withCompressedFile } from "./deployment/compressed-file.ts";
import { Deployment, overHttp } from "./deployment/deployment.ts";
import type { Platform, ServiceOptions } from "./deployment/service.ts";
import { type AppWith, withOptions } from "./deployment/options-of.ts";

export type { HttpEvent, HttpResult } from "./lambda/http-event.ts";
export * from "./deployment/consumer.ts";
export type { AppWith } from "./deployment/options-of.ts";
export type { DeploymentTools, ServiceOptions } from "./deployment/service.ts";

/** The event of an EventBridge rule or of EventBridge Scheduler. */
export interface ScheduledEvent {
  readonly "detail-type": string;
}

export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/** The Lambda handler. AWS's own types of both kinds of events match it. */
export interface LambdaHandler {
  (event: HttpEvent, context: LambdaContext): Promise<HttpResult>;
  (event: ScheduledEvent, context: LambdaContext): Promise<void>;
}

const platform: Platform = {
  transport: overHttp,
  // Lambda's maximum. The context of each invocation has the actual limit.
  // https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html
  budget: "15m",
  // Lambda freezes the function after the response.
  // https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
  afterResponse: "none",
  // The woken function responds only when its work is done. It continues if the caller no longer waits.
  wakeTimeout: "500ms",
};

/** The time at the end of an invocation that is kept for settling and the response, ms. */
const RESERVE = 2_000;

/**
 * Creates a Lambda function with a whole deployment: the HTTP interface, cron, wakes and consumers. Consumers
 * work in cron's invocations and in those of `SLUICE_WAKE_URL`, the URL of this function itself.
 * @example
 * export const handler = sluice({ consumers: { emails: send } });
 */
export function sluice<Env extends object = Environment>(
  options: ServiceOptions<Env> = {},
): LambdaHandler & AppWith<Env> {
  const deployment = new Deployment(options, () => platform);
  const handler = async (event: HttpEvent | ScheduledEvent, context: LambdaContext) => {
    const env = process.env as Environment as Env;
    const time = Math.max(context.getRemainingTimeInMillis() - RESERVE, 0);
    if ("requestContext" in event && "http" in event.requestContext) {
      const request = requestOf(event, AbortSignal.timeout(time));
      const response = await deployment.fetch(request, env, undefined, time);
      return resultOf(options.dashboard === true ? await withCompressedFile(request, response) : response);
    }
    if ("detail-type" in event && event["detail-type"] === "Scheduled Event")
      return deployment.service(env).cron(time);
    throw new TypeError(
      "The event must be an HTTP request of payload format 2.0, or a Scheduled Event of EventBridge",
    );
  };
  return withOptions(handler as LambdaHandler, options);
}

export const handler = sluice();
