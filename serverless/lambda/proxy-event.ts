import { fromPaddedBase64 } from "../../src/base64.ts";
import { bodyOf } from "./http-event.ts";

type Values<Value> = Readonly<Record<string, Value | undefined>> | null | undefined;

/**
 * A request from a REST API of API Gateway, or an HTTP API with "payload format 1.0", or from an Application Load
 * Balancer: the used fields.
 */
export interface ProxyEvent {
  readonly httpMethod: string;
  readonly path: string;
  readonly headers?: Values<string>;
  readonly multiValueHeaders?: Values<readonly string[]>;
  readonly queryStringParameters?: Values<string>;
  readonly multiValueQueryStringParameters?: Values<readonly string[]>;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded: boolean;
  readonly requestContext: { readonly domainName?: string | undefined; readonly elb?: object | undefined };
}

/** The response to such a request. */
export interface ProxyResult {
  statusCode: number;
  headers?: Record<string, string>;
  multiValueHeaders?: Record<string, string[]>;
  body: string;
  isBase64Encoded: boolean;
}

/** @param signal aborts when the time of the invocation is over */
export function requestOfProxy(event: ProxyEvent, signal: AbortSignal): Request {
  const { httpMethod: method, path, requestContext, body, isBase64Encoded } = event;
  const isBalancer = requestContext.elb !== undefined;
  const headers = new Headers(entriesOf(event.headers, event.multiValueHeaders));
  // The check of a target group has no host, and a test in the console no header at all.
  const host = requestContext.domainName ?? headers.get("host") ?? "localhost";
  const protocol = isBalancer && headers.get("x-forwarded-proto") === "http" ? "http" : "https";
  // A load balancer sends the query as it is in the URL, API Gateway decodes it.
  const encode = isBalancer ? (text: string) => text : encodeURIComponent;
  const query = entriesOf(event.queryStringParameters, event.multiValueQueryStringParameters)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join("&");
  const pathInUrl = path.replace(/[?#]/g, encodeURIComponent);
  const hasBody = typeof body === "string" && method !== "GET" && method !== "HEAD";
  return new Request(`${protocol}://${host}${pathInUrl}${query && `?${query}`}`, {
    method,
    headers,
    signal,
    ...(hasBody && { body: isBase64Encoded ? fromPaddedBase64(body)! : body }),
  });
}

/** Each name with each of its values. `all` has those of `single` too, if the sender gives it. */
function entriesOf(single: Values<string>, all: Values<readonly string[]>): [name: string, value: string][] {
  const entries = Object.entries(all ?? single ?? {});
  return entries.flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
}

/** The result for a response, in the form that the sender of the event reads. */
export async function resultOfProxy(event: ProxyEvent, response: Response): Promise<ProxyResult> {
  const { "set-cookie": _, ...headers } = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  const result = { statusCode: response.status, ...(await bodyOf(response)) };
  if (event.requestContext.elb === undefined) {
    return {
      ...result,
      headers,
      ...(cookies.length > 0 && { multiValueHeaders: { "set-cookie": cookies } }),
    };
  }
  if (event.multiValueHeaders) {
    const lists = Object.entries(headers).map(([name, value]): [string, string[]] => [name, [value]]);
    const multiValueHeaders = Object.fromEntries(lists);
    return {
      ...result,
      multiValueHeaders: { ...multiValueHeaders, ...(cookies.length > 0 && { "set-cookie": cookies }) },
    };
  }
  return { ...result, headers: { ...headers, ...Object.fromEntries(cookies.map(withOwnName)) } };
}

/**
 * The header of a cookie for a load balancer that takes one value for each name: the names of several cookies differ in
 * the case of their letters.
 */
function withOwnName(cookie: string, index: number): [name: string, value: string] {
  const letters = Array.from("set-cookie", (letter, at) =>
    (index >> at) & 1 ? letter.toUpperCase() : letter,
  );
  return [letters.join(""), cookie];
}
