import type { Environment } from "../src/config.ts";
import { type HttpEvent, type HttpResult, requestOf, resultOf } from "./lambda/http-event.ts";
import { type ProxyEvent, type ProxyResult, requestOfProxy, resultOfProxy } from "./lambda/proxy-event.ts";
import { withCompressedFile } from "../src/deploy/compressed-file.ts";
import { Deployment, overHttp } from "../src/deploy/deployment.ts";
import { onDemand } from "../src/deploy/on-demand.ts";
import type { Platform, ServiceOptions } from "../src/deploy/service.ts";
import { type AppWith, withOptions } from "../src/deploy/options-of.ts";

export type { HttpEvent, HttpResult } from "./lambda/http-event.ts";
export type { ProxyEvent, ProxyResult } from "./lambda/proxy-event.ts";
export * from "../src/deploy/consumer.ts";
export type { AppWith } from "../src/deploy/options-of.ts";
export type { DeploymentTools, ServiceOptions } from "../src/deploy/service.ts";

/** The event of an EventBridge rule or of EventBridge Scheduler. */
export interface ScheduledEvent {
  readonly "detail-type": string;
}

export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/** The Lambda handler. AWS's own types of these kinds of events match it. */
export interface LambdaHandler {
  (event: HttpEvent, context: LambdaContext): Promise<HttpResult>;
  (event: ProxyEvent, context: LambdaContext): Promise<ProxyResult>;
  (event: ScheduledEvent, context: LambdaContext): Promise<void>;
}

const platform: Platform = {
  transport: overHttp,
  onDemand,
  // Lambda's maximum. The context of each invocation has the actual limit.
  // https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html
  budget: "15m",
  // Lambda freezes the function after the response.
  // https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
  afterResponse: "none",
  // The woken function responds only when its work is done. It continues if the caller no longer waits.
  wakeTimeout: "500ms",
};

/** An event that only keeps the function warm: none, or one of the tools for it. */
function isWarmUp(event: unknown): boolean {
  if (event === null || event === undefined) return true;
  const { source, warmer, warmup } = event as { source?: unknown; warmer?: unknown; warmup?: unknown };
  return source === "serverless-plugin-warmup" || warmer === true || warmup === true;
}

function isProxyEvent(event: object): event is ProxyEvent {
  const { httpMethod, path, requestContext } = event as Partial<ProxyEvent>;
  return typeof httpMethod === "string" && typeof path === "string" && isObject(requestContext);
}

function isHttpEvent(event: object): event is HttpEvent {
  const { requestContext } = event as Partial<HttpEvent>;
  return isObject(requestContext) && isObject(requestContext.http);
}

const isObject = (value: unknown) => typeof value === "object" && value !== null;

/** The time at the end of an invocation that is kept for settling and the response, ms. */
const RESERVE = 2_000;

/**
 * Creates a Lambda function with a whole deployment: the HTTP interface, cron, wakes and consumers. Consumers
 * work in cron's invocations and in those of `SLUICE_WAKE_URL`, the URL of this function itself. Requests may come from
 * a function URL, from API Gateway or from an Application Load Balancer. Warm-ups do nothing.
 * @example
 * export const handler = sluice({ consumers: { emails: send } });
 */
export function sluice<Env extends object = Environment>(
  options: ServiceOptions<Env> = {},
): LambdaHandler & AppWith<Env> {
  const deployment = new Deployment(options, platform);
  const handler = async (event: unknown, context: LambdaContext) => {
    if (isWarmUp(event)) return undefined;
    const env = process.env as Environment as Env;
    const time = Math.max(context.getRemainingTimeInMillis() - RESERVE, 0);
    const respond = async (request: Request) => {
      const response = await deployment.fetch(request, env, undefined, time);
      return options.dashboard ? withCompressedFile(request, response) : response;
    };
    const given = Object(event) as object;
    const over = AbortSignal.timeout(time);
    if (isHttpEvent(given)) return resultOf(await respond(requestOf(given, over)));
    if (isProxyEvent(given)) return resultOfProxy(given, await respond(requestOfProxy(given, over)));
    if ("detail-type" in given && given["detail-type"] === "Scheduled Event")
      return deployment.service(env).cron(time);
    throw new TypeError(
      "The event must be an HTTP request of a function URL, API Gateway or a load balancer, a Scheduled Event of EventBridge, or a warm-up",
    );
  };
  return withOptions(handler as LambdaHandler, options);
}

export const handler = sluice();
