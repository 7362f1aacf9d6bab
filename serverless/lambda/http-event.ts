import { fromBase64, toBase64 } from "../../src/queue/core/codec.ts";

/** A request as function URLs and API Gateway's HTTP APIs give it: what is read of "payload format 2.0". */
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

/** A response as both take it. */
export interface HttpResult {
  statusCode: number;
  headers: Record<string, string>;
  cookies: string[];
  body: string;
  isBase64Encoded: boolean;
}

/** API Gateway decodes the path, function URLs do not; its ids have ten characters, those of function URLs more. */
const API_GATEWAY = /^[a-z0-9]{10}$/;

/** @param signal tells that the time of the invocation is over */
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
    ...(hasBody && { body: isBase64Encoded ? fromBase64(body) : body }),
  });
}

/** The whole of a response: as text where its bytes are one, else in base64. */
export async function resultOf(response: Response): Promise<HttpResult> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = textOf(bytes);
  const { "set-cookie": _, ...headers } = Object.fromEntries(response.headers);
  return {
    statusCode: response.status,
    headers,
    cookies: response.headers.getSetCookie(),
    body: text ?? toBase64(bytes),
    isBase64Encoded: text === undefined,
  };
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
