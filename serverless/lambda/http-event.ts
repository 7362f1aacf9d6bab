import { fromPaddedBase64, toBase64 } from "../../src/base64.ts";

/** A request from a function URL or an HTTP API of API Gateway: the used fields of "payload format 2.0". */
export interface HttpEvent {
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly cookies?: readonly string[] | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded: boolean;
  readonly requestContext: {
    readonly apiId: string;
    readonly domainName: string;
    readonly http: { readonly method: string };
  };
}

/** The response of "payload format 2.0". */
export interface HttpResult {
  statusCode: number;
  headers: Record<string, string>;
  cookies: string[];
  body: string;
  isBase64Encoded: boolean;
}

/**
 * The form of an API id of API Gateway. Ids of function URLs are longer. API Gateway decodes the path; function
 * URLs do not.
 */
const API_GATEWAY = /^[a-z0-9]{10}$/;

/** @param signal aborts when the time of the invocation is over */
export function requestOf(event: HttpEvent, signal: AbortSignal): Request {
  const { rawPath, rawQueryString, cookies, body, isBase64Encoded, requestContext } = event;
  const { apiId, domainName, http } = requestContext;
  const path = API_GATEWAY.test(apiId) ? rawPath.split("/").map(encodeURIComponent).join("/") : rawPath;
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers)) {
    if (value !== undefined) headers.set(name, value);
  }
  if (cookies && cookies.length > 0) headers.set("cookie", cookies.join("; "));
  const hasBody = typeof body === "string" && http.method !== "GET" && http.method !== "HEAD";
  return new Request(`https://${domainName}${path}${rawQueryString && `?${rawQueryString}`}`, {
    method: http.method,
    headers,
    signal,
    ...(hasBody && { body: isBase64Encoded ? fromPaddedBase64(body)! : body }),
  });
}

/** The result for a response. */
export async function resultOf(response: Response): Promise<HttpResult> {
  const { "set-cookie": _, ...headers } = Object.fromEntries(response.headers);
  return {
    statusCode: response.status,
    headers,
    cookies: response.headers.getSetCookie(),
    ...(await bodyOf(response)),
  };
}

/** The body of a result: text if its bytes are UTF-8, else base64. */
export async function bodyOf(response: Response): Promise<Pick<HttpResult, "body" | "isBase64Encoded">> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = textOf(bytes);
  return { body: text ?? toBase64(bytes), isBase64Encoded: text === undefined };
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
